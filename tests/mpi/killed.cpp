// SPDX-License-Identifier: BSD-3-Clause
// The last rank dies by SIGKILL in the middle of epochs, holding a lock that the others wait for.
// Not a test by itself: its driver looks at what is left in shared memory, and that the job ends.
#include <csignal>

#include "support/program.hpp"
#include "support/window.hpp"

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  const int last = program.size() - 1;
  support::Window<int> created(support::Flavor::create, 1000);
  support::Window<int> allocated(support::Flavor::allocate, 1000);
  support::Window<int> shared(support::Flavor::shared, 1000);
  for (MPI_Win win : {created.win(), allocated.win(), shared.win()}) {
    if (program.rank() == last) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      const int value = 1;
      MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
    }
  }
  support::barrier();
  if (program.rank() == last) {
    std::fputs("dying\n", stdout);
    std::fflush(stdout);
    std::raise(SIGKILL);
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, allocated);
  MPI_Win_flush(0, allocated);
  MPI_Win_unlock(0, allocated);
  return 0;
}
