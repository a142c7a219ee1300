// SPDX-License-Identifier: BSD-3-Clause
// Persistent alltoallv requests that are made and freed in a loop, by every way of the info key:
// neither memory nor descriptors pile up, and the last one is as good as the first.
//
// Arguments: how many of each way (60), then parts of names of tests as everywhere.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "support/alltoallv/calls.hpp"
#include "support/footprint.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Program;

/// Blocks of one length between all ranks, and memory for the longest.
class Blocks {
 public:
  explicit Blocks(const Program& program) : program_(program), ranks_(std::size_t(program.size())) {
    from_.assign(ranks_ * longest, 0);
    into_.assign(ranks_ * longest, 0);
    places_.resize(ranks_);
    for (std::size_t i = 0; i < ranks_; ++i) places_[i] = int(i * longest);
  }

  /// Made, used if it is its turn, and freed.
  void once(long number, MPI_Info way) {
    // Most as the one before: windows are kept for those that fit.
    const int bytes = lengths[std::size_t(number / 8) % lengths.size()];
    const std::vector<int> counts(ranks_, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_EQUAL(alltoallv::calls().init(from_.data(), counts.data(), places_.data(), MPI_CHAR,
                                        into_.data(), counts.data(), places_.data(), MPI_CHAR,
                                        MPI_COMM_WORLD, way, &request),
                MPI_SUCCESS);
    if (number % 4 == 0) {
      const auto last = std::size_t(bytes) - 1;
      for (std::size_t to = 0; to < ranks_; ++to) {
        from_[to * longest + last] = mark(number, program_.rank(), int(to));
      }
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (std::size_t from = 0; from < ranks_; ++from) {
        CHECK_EQUAL(int{into_[from * longest + last]},
                    int{mark(number, int(from), program_.rank())});
      }
    }
    MPI_Request_free(&request);
  }

 private:
  static constexpr std::size_t longest = 100'000;
  static constexpr std::array<int, 3> lengths = {8, 3000, int(longest)};

  static char mark(long number, int from, int to) {
    return static_cast<char>((number + 7L * from + 13L * to) % 101);
  }

  const Program& program_;
  std::size_t ranks_;
  std::vector<char> from_;
  std::vector<char> into_;
  std::vector<int> places_;
};

void soak(const Program& program, const char* algorithm, long count) {
  const support::Info way({{ORIEL_ALLTOALLV, algorithm}});
  Blocks blocks(program);
  // 100,000 of a few bytes each would be more.
  constexpr long few = 256;
  constexpr int most_rounds = 10;
  const long warm = std::max(count / 10, 24L);
  long number = 0;
  for (; number < warm; ++number) blocks.once(number, way);
  const long grown = support::check_settles(most_rounds, few, [&] {
    for (const long end = number + count; number < end; ++number) blocks.once(number, way);
  });
  if (program.rank() == 0) {
    std::printf("%s: %ld made and freed, %+ld pages\n", algorithm, count, grown);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  long count = 60;
  if (argc > 1 && std::atol(argv[1]) > 0) {
    count = std::atol(argv[1]);
    ++argv;
    --argc;
  }
  Program program(argc, argv);
  if (program.host_only()) return 0;  // hosts do not know the ways
  for (const char* algorithm : alltoallv::algorithms) {
    program.test(algorithm, [&] { soak(program, algorithm, count); });
  }
}
