// SPDX-License-Identifier: BSD-3-Clause

// The LU decomposition of "Nonblocking epochs in MPI one-sided communication", section VIII-B and
// Figure 13: the rows of a matrix are dealt to the ranks in turn, and the owner of a row of U sends
// it to all other ranks as soon as it is computed. A plain MPI program: it runs on the host MPI
// alone and with Oriel preloaded. `oriel bench lu` starts it both ways in turn and compares. One
// JSON line per order and way of sending rows: the time of a decomposition on the slowest rank, in
// microseconds, and the share of their time that ranks spend in MPI calls.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/epoch_api.hpp"
#include "bench/job.hpp"
#include "bench/lapack.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "lu/bcast.hpp"
#include "lu/blocking.hpp"
#include "lu/factorization.hpp"
#include "lu/isend.hpp"
#include "lu/layout.hpp"
#include "lu/nonblocking.hpp"
#include "lu/options.hpp"

namespace lu {
namespace {

constexpr std::int64_t one_decomposition = 1;
// Where ranks share cores and spin, a decomposition may take seconds.
constexpr double limit_us = 5e6;

template <typename Way>
void play(std::string_view window, const bench::Job& job, const Options& options) {
  for (const int order : options.orders) {
    const Layout layout(order, job.rank(), job.size());
    Factorization<Way> factorization(layout, job, options.memory);
    bench::Stopwatch stopwatch(options.batches, 0, bench::Whose::slowest);
    const std::vector<double> samples =
        stopwatch.samples(factorization, one_decomposition, limit_us);
    if (job.rank() != 0) continue;
    // Without the one that warmed everything up.
    const std::vector<double> shares(factorization.shares().begin() + 1,
                                     factorization.shares().end());
    std::printf(
        "{\"variant\":\"%.*s\",\"window\":\"%.*s\",\"ranks\":%d,\"order\":%d,\"residual\":%.3g,"
        "\"difference\":%.3g,\"shares\":",
        static_cast<int>(Way::name.size()), Way::name.data(), static_cast<int>(window.size()),
        window.data(), job.size(), order, factorization.checked().residual(),
        factorization.checked().difference());
    bench::print_list(shares);
    std::printf(",");
    bench::print_samples(samples);
  }
}

void run(const Options& options) {
  const bench::Job job;
  const std::string_view window = bench::name_of(options.memory);
  bench::lapack::use_one_thread();
  // Messages first: a program that has no window yet pays nothing for the library.
  play<Isend>("none", job, options);
  play<Bcast>("none", job, options);
  play<Blocking<Complete::late>>(window, job, options);
  play<Blocking<Complete::early>>(window, job, options);
  if (bench::EpochApi().complete()) play<Nonblocking>(window, job, options);
}

}  // namespace
}  // namespace lu

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  lu::run(lu::Options(argc, argv));
  MPI_Finalize();
}
