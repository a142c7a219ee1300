// SPDX-License-Identifier: BSD-3-Clause

// The microbenchmarks of "Nonblocking epochs in MPI one-sided communication", section VIII-A, one
// pattern per run. A plain MPI program: it runs on the host MPI alone, where only the blocking mode
// exists, and with Oriel preloaded. `oriel demo` starts it and draws the figures from what it
// prints.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/busy_work.hpp"
#include "bench/epoch_api.hpp"
#include "patterns/catalogue.hpp"
#include "patterns/options.hpp"
#include "patterns/scene.hpp"
#include "patterns/series.hpp"

namespace patterns {
namespace {

constexpr int warm_up_turns = 3;

/// One kind of turn: with or without what makes somebody wait, on which window.
struct Variant {
  const char* name;
  bool reference;
  bool flag;
};

std::vector<Variant> variants(const Pattern& pattern) {
  if (pattern.flag) return {{"off", false, false}, {"on", false, true}, {"reference", true, false}};
  return {{"pattern", false, false}, {"reference", true, false}};
}

const Pattern& find(const std::vector<Pattern>& patterns, const Options& options) {
  const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const Pattern& pattern) {
    return pattern.name == options.pattern;
  });
  if (found != patterns.end()) return *found;
  std::string names;
  for (const Pattern& pattern : patterns) names += " " + std::string(pattern.name);
  bench::fail("there is no pattern \"" + options.pattern + "\"; --pattern takes one of:" + names +
              ".");
}

void check_set_up(const Pattern& pattern, const Options& options, const bench::Job& job,
                  const bench::EpochApi& api) {
  const std::string name(pattern.name);
  if (job.size() != pattern.ranks) {
    bench::fail("the pattern " + name + " needs " + std::to_string(pattern.ranks) +
                " ranks, and the job has " + std::to_string(job.size()) + ".");
  }
  if (options.mode == Mode::nonblocking && !api.complete()) {
    bench::fail(
        "the nonblocking mode needs the calls ORIEL_Win_i*, and the library that has them is not "
        "loaded into this process; start the program with oriel run.");
  }
  if (pattern.flag && options.mode == Mode::blocking) {
    bench::fail("the pattern " + name +
                " shows a flag, which only has an effect on nonblocking epochs; "
                "use --mode nonblocking.");
  }
  for (const std::size_t bytes : options.sizes) {
    if (bytes % sizeof(std::uint32_t) || bytes > mebibyte) {
      bench::fail("--size takes a multiple of 4 up to 1048576, not " + std::to_string(bytes) + ".");
    }
  }
}

void print_head(const Pattern& pattern, int busy_ranks, const Options& options,
                const bench::Job& job) {
  if (job.rank() != 0) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string line(version, static_cast<std::size_t>(length));
  line.resize(std::min(line.size(), line.find('\n')));
  std::erase_if(line, [](char c) { return c == '"' || c == '\\' || c < ' '; });
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::printf(
      "{\"head\":true,\"pattern\":\"%s\",\"ranks\":%d,\"busy_ranks\":%d,\"cores\":%d,"
      "\"work_us\":%.0f,\"mpi\":\"%s\"}\n",
      options.pattern.c_str(), pattern.ranks, busy_ranks, job.cores(), options.work_us,
      line.c_str());
}

void run(const Options& options) {
  const bench::Job job;
  const bench::EpochApi api;
  const std::vector<Pattern> patterns = catalogue();
  const Pattern& pattern = find(patterns, options);
  check_set_up(pattern, options, job, api);
  const int busy_ranks = job.spread() ? pattern.ranks : pattern.busy_ranks;
  print_head(pattern, busy_ranks, options, job);

  if (busy_ranks > job.cores()) job.part_cores(pattern.late_rank);
  bench::BusyWork work;
  Scene scene(job, [&] { work.work(options.work_us); }, pattern, api);
  const Window plain(2 * mebibyte, nullptr);
  const Window flagged(2 * mebibyte, pattern.flag);
  const char* mode = options.mode == Mode::blocking ? "blocking" : "nonblocking";
  Turn turn;
  for (const std::size_t bytes : options.sizes.empty() ? pattern.sizes : options.sizes) {
    turn.bytes = bytes;
    const std::vector<Variant> kinds = variants(pattern);
    std::vector<Series> series(kinds.size());
    // The kinds of turns alternate, so that what disturbs the machine for a while disturbs all.
    for (int iteration = -warm_up_turns; iteration < options.iterations; ++iteration) {
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        turn.reference = kinds[kind].reference;
        ++turn.number;
        const auto measured = scene.play(kinds[kind].flag ? flagged : plain, options.mode, turn);
        if (iteration >= 0) series[kind].add(measured);
      }
    }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      series[kind].print(job, pattern,
                         "\"pattern\":\"" + options.pattern + "\",\"mode\":\"" + mode +
                             "\",\"bytes\":" + std::to_string(bytes) + ",\"variant\":\"" +
                             kinds[kind].name + "\"");
    }
  }
}

}  // namespace
}  // namespace patterns

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  patterns::run(patterns::Options(argc, argv));
  MPI_Finalize();
}
