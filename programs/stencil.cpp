// SPDX-License-Identifier: BSD-3-Clause

// The pipelined stencil of "Notified Access: Extending Remote Memory Access Programming Models for
// Producer-Consumer Synchronization", section VI-A, which is the kernel Synch_p2p of the Parallel
// Research Kernels: A(i,j) = A(i-1,j) + A(i,j-1) - A(i-1,j-1), columns distributed over the ranks,
// one value per row from each rank to the next. A plain MPI program: it runs on the host MPI alone
// and with Oriel preloaded, where it has notified access. `oriel bench stencil` and `oriel bench
// wavefront` start it both ways in turn and compare. One JSON line per variant and domain: the time
// of an iteration on the slowest rank, in microseconds, and billions of memory accesses per second
// (GMOPS), four for each point: those of the formula.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/failure.hpp"
#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "stencil/domain.hpp"
#include "stencil/fence.hpp"
#include "stencil/flags.hpp"
#include "stencil/get_notify.hpp"
#include "stencil/known.hpp"
#include "stencil/messages.hpp"
#include "stencil/notify.hpp"
#include "stencil/options.hpp"
#include "stencil/pipeline.hpp"
#include "stencil/post_start.hpp"
#include "stencil/stencil_row.hpp"

namespace stencil {
namespace {

/// Of memory in one iteration, as the formula has them.
double accesses(const Domain& domain) {
  return 4.0 * (domain.rows() - 1) * (domain.columns() - 1);
}

class Stencil {
 public:
  explicit Stencil(const Options& options) : options_(options) {
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    if (ranks_ < 2) {
      bench::fail("a pipeline needs two ranks, and the job has one; start it with -n 2 or more.");
    }
    for (const Columns& columns : options.columns) {
      if (columns.of_all(ranks_) >= 2 * ranks_) continue;
      bench::fail("each rank needs two columns, and " + std::to_string(columns.number) +
                  " columns are too few for " + std::to_string(ranks_) +
                  " ranks; ask for more by --columns, or start fewer ranks.");
    }
  }

  template <typename Variant>
  void play(std::string_view name) {
    if (!options_.variants.includes(name)) return;
    ++played_;
    for (const Columns& columns : options_.columns) {
      const Domain domain(options_.rows, columns.of_all(ranks_));
      StencilRow<Variant> row(domain, options_.memory);
      bench::Stopwatch stopwatch(options_.batches, 0, bench::Whose::slowest);
      const double limit_us = 1e6 * static_cast<double>(options_.limit_s);
      const std::vector<double> samples = stopwatch.samples(row, options_.iterations, limit_us);
      if (domain.rank() != 0) continue;
      const std::string_view scaling = name_of(columns.scaling);
      const double gmops = accesses(domain) / (1e3 * bench::median(samples));
      std::printf(
          "{\"variant\":\"%.*s\",\"scaling\":\"%.*s\",\"rows\":%d,\"columns\":%d,\"ranks\":%d,"
          "\"iterations\":%lld,\"accesses\":%.0f,\"gmops\":%.5f,",
          static_cast<int>(name.size()), name.data(), static_cast<int>(scaling.size()),
          scaling.data(), domain.rows(), domain.columns(), ranks_,
          static_cast<long long>(options_.iterations), accesses(domain), gmops);
      bench::print_samples(samples);
    }
  }

  int played() const { return played_; }

 private:
  const Options& options_;
  int ranks_ = 0;
  int played_ = 0;
};

void run(const Options& options) {
  Stencil stencil(options);
  stencil.play<Pipeline<Known>>("limit");
  // Messages first: a program that has no window yet pays nothing for the library.
  stencil.play<Pipeline<Messages>>("messages");
  stencil.play<Fence>("fence");
  stencil.play<Pipeline<PostStart>>("post_start");
  stencil.play<Pipeline<Flags>>("flag");
  if (bench::NotifyApi().complete()) {
    stencil.play<Pipeline<Notify>>("notify");
    stencil.play<Pipeline<GetNotify>>("get_notify");
  }
  if (stencil.played() == 0) {
    bench::fail(
        "none of the variants asked for is there; leave --variant away to see all. notify "
        "and get_notify need Oriel: start the program with oriel run.");
  }
}

}  // namespace
}  // namespace stencil

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  stencil::run(stencil::Options(argc, argv));
  MPI_Finalize();
}
