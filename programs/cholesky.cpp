// SPDX-License-Identifier: BSD-3-Clause

// The task-based Cholesky factorization of "Notified Access: Extending Remote Memory Access
// Programming Models for Producer-Consumer Synchronization", section VI-C: tiles are computed in a
// static order, each as soon as what it needs is there, and go to the ranks that need them along a
// binary tree. Nobody knows which tile comes next. A plain MPI program: it runs on the host MPI
// alone and with Oriel preloaded. `oriel bench cholesky` starts it both ways in turn and compares.
// One JSON line per way of sending tiles: the time of a factorization on the slowest rank, in
// microseconds.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/lapack.hpp"
#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "cholesky/factorization.hpp"
#include "cholesky/messages.hpp"
#include "cholesky/notified.hpp"
#include "cholesky/one_sided.hpp"
#include "cholesky/options.hpp"
#include "cholesky/plan.hpp"
#include "cholesky/tiling.hpp"

namespace cholesky {
namespace {

constexpr std::int64_t one_round = 0;  // is enough for a batch of at least so many microseconds

/// LAPACK's count.
double floating_point_operations(double n) {
  return n * n * n / 3 + n * n / 2 + n / 6;
}

struct Job {
  int rank = 0;
  int ranks = 0;

  Job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

template <typename Way>
void play(std::string_view window, const Job& job, std::int64_t tiles_per_rank,
          const Options& options) {
  const Tiling tiling(static_cast<int>(options.edge), tiles_per_rank * job.ranks);
  const Plan plan(tiling, job.rank, job.ranks);
  Factorization<Way> factorization(tiling, plan, options);
  bench::Stopwatch stopwatch(options.batches, one_round, bench::Whose::slowest);
  const std::vector<double> samples = stopwatch.samples(factorization);
  if (job.rank != 0) return;
  const double operations = floating_point_operations(tiling.order());
  std::printf(
      "{\"variant\":\"%.*s\",\"window\":\"%.*s\",\"ranks\":%d,\"tiles_per_rank\":%lld,"
      "\"tile\":%d,\"tiles\":%d,\"order\":%d,\"operations\":%.0f,\"residual\":%.3g,\"gflop_s\":%."
      "4f,",
      static_cast<int>(Way::name.size()), Way::name.data(), static_cast<int>(window.size()),
      window.data(), job.ranks, static_cast<long long>(tiles_per_rank), tiling.edge(),
      tiling.tiles(), tiling.order(), operations, factorization.largest(),
      operations / bench::median(samples) / 1e3);
  bench::print_samples(samples);
}

template <typename Way>
void play_all(std::string_view window, const Job& job, const Options& options) {
  for (const std::int64_t tiles : options.tiles_per_rank) play<Way>(window, job, tiles, options);
}

/// Neither fences nor post, start, complete and wait: both take the target's agreement for every
/// tile, and it does not know which one comes next, nor from whom.
void run(const Options& options) {
  const Job job;
  const std::string_view window = bench::name_of(options.memory);
  bench::lapack::use_one_thread();
  // Messages first: a program that has no window yet pays nothing for the library.
  play_all<Messages>("none", job, options);
  play_all<OneSided>(window, job, options);
  if (bench::NotifyApi().complete()) play_all<Notified>(window, job, options);
}

}  // namespace
}  // namespace cholesky

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  cholesky::run(cholesky::Options(argc, argv));
  MPI_Finalize();
}
