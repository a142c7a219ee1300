// SPDX-License-Identifier: BSD-3-Clause

// What the kinds of windows cost: put and flush by size, as in Figures 4 and 12 of "Quo vadis MPI
// RMA?", and making a window and freeing it. A plain MPI program: it runs on the host MPI alone and
// with Oriel preloaded. `oriel bench windows` starts it both ways in turn. One JSON line per row,
// times in microseconds.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "windows/catalogue.hpp"
#include "windows/crowd.hpp"
#include "windows/options.hpp"

namespace windows {
namespace {

/// Making a window takes a few collectives, which take long where ranks share cores.
constexpr std::int64_t makings = 10;
constexpr double makings_limit_us = 500'000;

class Measurement {
 public:
  explicit Measurement(const Options& options) : options_(options) {
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &pair_.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
      bench::fail("the benchmark is between two ranks, and the job has one; start it with -n 2.");
    }
    pair_.target = size - 1;
    if (windows::puts(options, pair_).empty()) {
      bench::fail("none of the windows asked for exists; leave --window away to see all.");
    }
  }

  void puts() const {
    for (const Put& put : windows::puts(options_, pair_)) {
      for (const std::size_t bytes : options_.sizes) {
        const std::unique_ptr<bench::Row> row = put.make(bytes);
        bench::Stopwatch stopwatch(options_.batches, options_.batch_us, bench::Whose::rank_0);
        const std::vector<double> samples = stopwatch.samples(*row);
        row->finish();
        row->check();
        if (pair_.rank != 0) continue;
        begin_line("put", put.name);
        std::printf("\"bytes\":%zu,", bytes);
        bench::print_samples(samples);
      }
    }
  }

  void making(std::int64_t others) const {
    const Crowd crowd(others);
    for (const Cost& cost : costs(options_, pair_)) {
      const std::unique_ptr<bench::Row> row = cost.make();
      bench::Stopwatch stopwatch(options_.batches, options_.batch_us,
                                 cost.local ? bench::Whose::rank_0 : bench::Whose::slowest);
      const std::vector<double> samples =
          cost.local ? stopwatch.samples(*row) : stopwatch.samples(*row, makings, makings_limit_us);
      if (pair_.rank != 0) continue;
      begin_line("making", cost.name);
      std::printf("\"others\":%lld,", static_cast<long long>(others));
      bench::print_samples(samples);
    }
  }

 private:
  static void begin_line(const char* measure, const std::string& window) {
    std::printf("{\"measure\":\"%s\",\"window\":\"%s\",", measure, window.c_str());
  }

  const Options& options_;
  Pair pair_{.rank = 0, .target = 1};
};

}  // namespace
}  // namespace windows

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const windows::Options options(argc, argv);
    const windows::Measurement measurement(options);
    measurement.puts();
    measurement.making(0);
    measurement.making(options.others);
  }
  MPI_Finalize();
}
