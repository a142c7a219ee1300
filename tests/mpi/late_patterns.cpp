// SPDX-License-Identifier: BSD-3-Clause
// The patterns of `oriel demo` (E13). The late rank works until the test ends its work
// (support/paced.hpp). Not a test by itself.
//   late_patterns PATTERN TURNS   so often without the pattern's info key, and with it
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/epoch_api.hpp"
#include "patterns/catalogue.hpp"
#include "patterns/scene.hpp"
#include "support/paced.hpp"
#include "support/program.hpp"

namespace {

void play(const patterns::Pattern& pattern, int turns, int rank) {
  const bench::Job job;
  const bench::EpochApi api;
  support::Paced paced(rank);
  patterns::Scene scene(job, [&] { paced.work(); }, pattern, api);
  std::vector<const char*> keys{nullptr};
  if (pattern.flag != nullptr) keys.push_back(pattern.flag);
  std::vector<std::unique_ptr<patterns::Window>> windows;
  for (const char* key : keys) {
    windows.push_back(std::make_unique<patterns::Window>(2 * patterns::mebibyte, key));
  }
  const bench::Mode mode =
      pattern.flag != nullptr ? bench::Mode::nonblocking : bench::Mode::blocking;
  // A short put to another node is kept until the target posts: its origin does not wait.
  patterns::Turn turn{.bytes = patterns::mebibyte};
  for (int i = 0; i < turns; ++i) {
    for (const auto& window : windows) {
      ++turn.number;
      scene.play(*window, mode, turn);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(1, argv);
  CHECK(argc == 3);
  const std::vector<patterns::Pattern> all = patterns::catalogue();
  const auto pattern =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == argv[1]; });
  CHECK(pattern != all.end() && pattern->ranks == program.size());
  play(*pattern, std::atoi(argv[2]), program.rank());
  return 0;
}
