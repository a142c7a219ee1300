// SPDX-License-Identifier: BSD-3-Clause

// The massive unstructured atomic transactions of "Nonblocking Epochs in MPI One-Sided
// Communication", sections IV-B and VIII-B, Figure 12. Every rank updates random words of random
// other ranks, each in an exclusive lock epoch of its own. No rank knows how many updates it gets,
// nor from whom. A plain MPI program: it runs on the host MPI alone and with Oriel preloaded, where
// it has nonblocking epochs. `oriel bench transactions` starts it both ways in turn and compares.
// One JSON line per variant and length of the computation behind each transaction: the time of a
// transaction on the slowest rank, in microseconds.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/busy_work.hpp"
#include "bench/epoch_api.hpp"
#include "bench/failure.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "transactions/options.hpp"
#include "transactions/transactions_row.hpp"

namespace transactions {
namespace {

class Transactions {
 public:
  explicit Transactions(const Options& options)
      : options_(options), ranks_(ranks_of_job()), window_(options.memory, bytes(options)) {}

  void play(std::string_view name, Epochs epochs, bool reorder) {
    if (!options_.variants.includes(name)) return;
    ++played_;
    set_reorder(reorder);
    play(name, epochs, std::int64_t{0});
    for (const std::int64_t compute_us : options_.compute) play(name, epochs, compute_us);
  }

  int played() const { return played_; }

 private:
  static int ranks_of_job() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
      bench::fail(
          "each rank updates others, and the job has one rank; start it with -n 2 or more.");
    }
    return ranks;
  }

  static std::size_t bytes(const Options& options) {
    return static_cast<std::size_t>(options.words) * sizeof(std::int64_t);
  }

  /// A host that does not know the key ignores it.
  void set_reorder(bool reorder) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, ORIEL_ACCESS_AFTER_ACCESS_REORDER, reorder ? "true" : "false");
    MPI_Win_set_info(window_.handle(), info);
    MPI_Info_free(&info);
  }

  void play(std::string_view name, Epochs epochs, std::int64_t compute_us) {
    TransactionsRow row(epochs, window_, options_.words, compute_us, work_);
    bench::Stopwatch stopwatch(options_.batches, options_.batch_us, bench::Whose::slowest);
    const double limit_us = 1e6 * static_cast<double>(options_.limit_s);
    const std::vector<double> samples = stopwatch.samples(row, limit_us);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    std::printf("{\"variant\":\"%.*s\",\"ranks\":%d,\"compute_us\":%lld,\"updates\":%lld,",
                static_cast<int>(name.size()), name.data(), ranks_,
                static_cast<long long>(compute_us),
                static_cast<long long>(stopwatch.rounds_per_batch()));
    bench::print_samples(samples);
  }

  const Options& options_;
  int ranks_;
  bench::Window window_;
  bench::BusyWork work_;
  int played_ = 0;
};

void run(const Options& options) {
  Transactions transactions(options);
  transactions.play("blocking", Epochs::blocking, false);
  if (bench::EpochApi().complete()) {
    transactions.play("nonblocking", Epochs::nonblocking, false);
    transactions.play("reordered", Epochs::nonblocking, true);
  }
  if (transactions.played() == 0) {
    bench::fail(
        "none of the variants asked for is there; leave --variant away to see all. nonblocking "
        "and reordered need Oriel: start the program with oriel run.");
  }
}

}  // namespace
}  // namespace transactions

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  transactions::run(transactions::Options(argc, argv));
  MPI_Finalize();
}
