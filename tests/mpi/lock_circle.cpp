// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that wait for a lock (B2, E18). Not a test by itself: its driver looks at what Oriel
// says.
//   lock_circle unordered   each holds a lock that the other one waits for, until they are ended
//   lock_circle earlier     rank 0 waits in MPI_Win_unlock of a window because of a lock that it
//                           asked for earlier, on another window, which rank 1 holds until rank 0
//                           is ended
#include <unistd.h>

#include <cstring>

#include <mpi.h>

namespace {

MPI_Win make(const char* name) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, name);
  return win;
}

void put(int target, MPI_Win win) {
  const int value = 1;
  MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
}

void lock_and_hold(int target, MPI_Win win) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
  put(target, win);
  MPI_Win_flush(target, win);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool unordered = argc > 1 && std::strcmp(argv[1], "unordered") == 0;
  MPI_Win first = make("first");
  MPI_Win second = make("second");
  if (unordered || rank == 1) lock_and_hold(rank, first);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!unordered && rank == 1) pause();
  if (!unordered) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first);
  MPI_Win last = unordered ? first : second;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, last);
  put(1 - rank, last);
  MPI_Win_unlock(1 - rank, last);
  return 0;  // never
}
