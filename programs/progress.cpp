// SPDX-License-Identifier: BSD-3-Clause

// Whether one-sided communication makes progress while its target computes: Figure 5 of "Quo vadis
// MPI RMA?". Rank 0 puts and flushes words to the last rank, which waits in MPI, or computes
// outside MPI for seconds and then waits. A plain MPI program: it runs on the host MPI alone and
// with Oriel preloaded. `oriel bench progress` starts it both ways in turn. One JSON line per
// window and target.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "exposures/kinds.hpp"
#include "progress/options.hpp"
#include "progress/puts.hpp"

namespace progress {
namespace {

constexpr std::int64_t warm_up_operations = 1000;

constexpr int absences = 20;

void print(const std::string& window, Target target, double busy_s, const Outcome& outcome) {
  std::printf(
      "{\"window\":\"%s\",\"target\":\"%s\",\"busy_s\":%.3f,\"operations\":%lld,\"seconds\":%.6f}"
      "\n",
      window.c_str(), target == Target::idle ? "idle" : "busy", busy_s,
      static_cast<long long>(outcome.operations), outcome.seconds);
  std::fflush(stdout);
}

void print_first(const std::string& window, const std::vector<double>& seconds) {
  std::printf("{\"window\":\"%s\",\"absence_s\":%.3f,\"first_us\":[", window.c_str(), absence_s);
  const char* comma = "";
  for (const double one : seconds) {
    std::printf("%s%.1f", comma, 1e6 * one);
    comma = ",";
  }
  std::puts("]}");
}

void run(const Options& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    bench::fail("the benchmark is between two ranks, and the job has one; start it with -n 2.");
  }
  const double busy_s = static_cast<double>(options.busy_ms) / 1000;
  const auto limit_s = static_cast<double>(options.limit_s);
  for (const exposures::Kind& kind : options.windows) {
    const std::string window(kind.name);
    Puts puts(kind, rank, size - 1);
    puts.play(Target::idle, std::min(options.operations, warm_up_operations), busy_s, limit_s);
    for (const Target target : {Target::idle, Target::busy}) {
      const Outcome outcome = puts.play(target, options.operations, busy_s, limit_s);
      if (rank == 0) print(window, target, busy_s, outcome);
    }
    std::vector<double> first(absences);
    for (double& seconds : first) seconds = puts.first();
    if (rank == 0) print_first(window, first);
  }
}

}  // namespace
}  // namespace progress

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  progress::run(progress::Options(argc, argv));
  MPI_Finalize();
}
