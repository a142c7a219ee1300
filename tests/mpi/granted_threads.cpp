// SPDX-License-Identifier: BSD-3-Clause
// G8: MPI_THREAD_MULTIPLE that plain MPI_Init grants, by a setting of the host's: two threads of
// rank 0 update one element at a time, and nothing is lost.
#include <cstdint>
#include <cstdio>
#include <thread>

#include "support/overlap.hpp"
#include "support/time_limit.hpp"
#include "support/window.hpp"

namespace {

void two_threads(support::Flavor flavor, int rank) {
  support::current_test() = name_of(flavor);
  support::Window<std::int64_t> window(flavor, 1);
  support::Overlap overlap(2, 100'000, 20);
  MPI_Win_lock_all(0, window);
  const auto update = [&] {
    const std::int64_t one = 1;
    std::int64_t before = 0;
    overlap.run([&] { MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window); });
  };
  if (rank == 0) {
    std::thread other(update);
    update();
    other.join();
  }
  MPI_Win_unlock_all(window);
  if (rank == 0) CHECK_EQUAL(window[0], overlap.steps());
}

}  // namespace

int main(int argc, char** argv) {
  support::limit_time();
  MPI_Init(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  int rank = 0;
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_EQUAL(level, MPI_THREAD_MULTIPLE);
  for (const support::Flavor flavor : support::flavors()) two_threads(flavor, rank);
  MPI_Finalize();
  if (rank == 0) std::printf("ok: updates of two threads\n");
}
