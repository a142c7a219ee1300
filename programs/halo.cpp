// SPDX-License-Identifier: BSD-3-Clause

// The exchange of ghost cells of "Minimizing synchronization overhead in the implementation of MPI
// one-sided communication", section 1: in every step each rank of a grid without borders sends one
// message to each of its four neighbours, by point-to-point communication or by puts in four kinds
// of epochs. A plain MPI program: it runs on the host MPI alone and with Oriel preloaded.
// `oriel bench halo` starts it both ways in turn and compares. One JSON line per kind and size: the
// time of a step on the slowest rank, in microseconds.

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "bench/samples.hpp"
#include "bench/stopwatch.hpp"
#include "bench/window.hpp"
#include "halo/grid.hpp"
#include "halo/halo_row.hpp"
#include "halo/messages.hpp"
#include "halo/options.hpp"
#include "halo/puts.hpp"
#include "halo/synchronization.hpp"

namespace halo {
namespace {

template <typename Exchange>
void play(std::string_view variant, std::string_view window, const Grid& grid,
          const Options& options) {
  for (const std::size_t bytes : options.sizes) {
    HaloRow<Exchange> row(grid, options.memory, bytes);
    bench::Stopwatch stopwatch(options.batches, options.batch_us, bench::Whose::slowest);
    const std::vector<double> samples = stopwatch.samples(row);
    if (grid.rank() != 0) continue;
    std::printf(
        "{\"variant\":\"%.*s\",\"window\":\"%.*s\",\"bytes\":%zu,\"grid\":[%d,%d],\"steps\":%lld,",
        static_cast<int>(variant.size()), variant.data(), static_cast<int>(window.size()),
        window.data(), bytes, grid.extent(0), grid.extent(1),
        static_cast<long long>(stopwatch.rounds_per_batch()));
    bench::print_samples(samples);
  }
}

void run(const Options& options) {
  const Grid grid;
  const std::string_view window = bench::name_of(options.memory);
  // Messages first: a program that has no window yet pays nothing for the library.
  play<Messages>("messages", "none", grid, options);
  play<Puts<Fence>>("fence", window, grid, options);
  play<Puts<PostStart>>("post_start", window, grid, options);
  play<Puts<SharedLock>>("lock", window, grid, options);
  play<Puts<WeakLock>>("weak_lock", window, grid, options);
}

}  // namespace
}  // namespace halo

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  halo::run(halo::Options(argc, argv));
  MPI_Finalize();
}
