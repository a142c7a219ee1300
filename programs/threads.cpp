// SPDX-License-Identifier: BSD-3-Clause

// Put and flush by many threads of one rank, and what the info keys mpi_win_scope and mpi_win_order
// change: Figures 8 to 11 of "Quo vadis MPI RMA?". A plain MPI program: it runs on the host MPI
// alone and with Oriel preloaded. `oriel bench threads` starts it both ways in turn. One JSON line
// per row, times in microseconds.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "bench/failure.hpp"
#include "bench/samples.hpp"
#include "threads/hints.hpp"
#include "threads/measurement.hpp"
#include "threads/options.hpp"
#include "threads/shared_window.hpp"

namespace threads {
namespace {

class Report {
 public:
  Report(const Hints& hints, int rank) : hints_(hints), silent_(rank != 0) {}

  void granted(bool value) const {
    if (silent_) return;
    begin_line("hints");
    std::printf("\"granted\":%s}\n", value ? "true" : "false");
    std::fflush(stdout);
  }

  void samples(const char* measure, int threads, std::size_t bytes,
               const std::vector<double>& samples) const {
    if (silent_) return;
    begin_line(measure);
    std::printf("\"threads\":%d,\"bytes\":%zu,", threads, bytes);
    bench::print_samples(samples);
  }

 private:
  void begin_line(const char* measure) const {
    std::printf("{\"measure\":\"%s\",\"scope\":\"%s\",\"order\":%s,", measure, hints_.scope(),
                hints_.order ? "true" : "false");
  }

  const Hints& hints_;
  bool silent_;
};

void measure(const Measurement& measurement, const Hints& hints, const Options& options,
             const Report& report) {
  std::set<std::pair<int, std::size_t>> cases;
  for (const int count : options.counts()) cases.emplace(count, 1);
  for (const int count : options.extremes()) {
    for (const std::size_t bytes : options.sizes) cases.emplace(count, bytes);
  }
  for (const auto& [count, bytes] : cases) {
    report.samples("puts", count, bytes, measurement.puts(count, bytes));
  }
  for (const std::size_t bytes : options.sizes) {
    report.samples("row", 1, bytes, measurement.row(bytes, hints.order));
  }
  if (options.most == 1) return;
  for (const int count : std::set<int>{2, options.most}) {
    report.samples("idle", count, 1, measurement.beside(count, Others::idle));
    report.samples("busy", count, 1, measurement.beside(count, Others::busy));
  }
}

void run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    bench::fail("the benchmark is between two ranks, and the job has one; start it with -n 2.");
  }
  const std::size_t part = std::max(Measurement::long_bytes,
                                    *std::max_element(options.sizes.begin(), options.sizes.end()));
  for (const bool order : {false, true}) {
    for (const bool thread_scope : {false, true}) {
      const Hints hints{thread_scope, order};
      const Report report(hints, rank);
      const SharedWindow window(hints, options.most, part);
      const bool granted = hints.granted(window.handle());
      report.granted(granted);
      if (!granted) continue;
      measure(Measurement(window, options, rank, size - 1), hints, options, report);
    }
  }
}

}  // namespace
}  // namespace threads

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    bench::fail(
        "several threads of a rank put at the same time, and this MPI does not grant "
        "MPI_THREAD_MULTIPLE; use one that was built with it.");
  }
  threads::run(threads::Options(argc, argv));
  MPI_Finalize();
}
