// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits while another keeps it busy: something moves in its sweeps, so that it never
// rests. A wait that lasts too long is told all the same (B2).
//   busy FILE   the late rank posts when the file is there
#include <unistd.h>

#include "support/program.hpp"

namespace {

constexpr int waiting = 0;
constexpr int late = 1;
constexpr int flooding = 2;

bool over() {
  int flag = 0;
  MPI_Iprobe(late, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

/// On memory of the waiting rank that it has to update itself (ORIEL_VM=0).
void flood(MPI_Win busy) {
  const int one = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, waiting, 0, busy);
  while (!over()) {
    for (int i = 0; i < 100; ++i) {
      MPI_Accumulate(&one, 1, MPI_INT, waiting, 0, 1, MPI_INT, MPI_SUM, busy);
    }
    MPI_Win_flush(waiting, busy);
  }
  MPI_Win_unlock(waiting, busy);
  MPI_Recv(nullptr, 0, MPI_INT, late, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(1, argv);  // its argument names no test
  CHECK(argc == 2);
  const char* const file = argv[1];
  const int rank = program.rank();
  int target = 0;
  MPI_Win busy;
  MPI_Win_create(&target, sizeof target, sizeof target, MPI_INFO_NULL, MPI_COMM_WORLD, &busy);
  MPI_Win win;
  int* memory;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Group all;
  MPI_Group other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int peer = rank == waiting ? late : waiting;
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == waiting) {
    const int value = 9;
    MPI_Win_start(other, 0, win);
    MPI_Put(&value, 1, MPI_INT, late, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
  } else if (rank == late) {
    while (access(file, F_OK) != 0) usleep(10'000);
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
    CHECK_EQUAL(*memory, 9);
    MPI_Send(nullptr, 0, MPI_INT, flooding, 0, MPI_COMM_WORLD);
  } else {
    flood(busy);
  }
  MPI_Group_free(&other);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  MPI_Win_free(&busy);
}
