/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 is late: it exposes its memory after 100 ms of other work. Rank 0 puts into that memory,
 * and has 100 ms of work that needs no answer. It closes its epoch once by the blocking call and
 * once by the nonblocking one. */
#include <oriel/oriel.h>

#include <stdio.h>

static void work(void) {
  const double end = MPI_Wtime() + 0.1;
  while (MPI_Wtime() < end) {
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  double* memory;
  MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Group all, peer;
  const int other = 1 - rank;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &other, &peer);

  for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
    const double data = 1 + nonblocking;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 1) {
      work(); /* late */
      MPI_Win_post(peer, 0, win);
      MPI_Win_wait(win);
      wrong |= *memory != data;
    } else if (!nonblocking) {
      MPI_Win_start(peer, 0, win);
      MPI_Put(&data, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
      MPI_Win_complete(win); /* waits for rank 1 */
      work();
    } else {
      MPI_Request opened, closed;
      ORIEL_Win_istart(peer, 0, win, &opened);
      MPI_Put(&data, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
      ORIEL_Win_icomplete(win, &closed); /* does not wait */
      work();
      MPI_Wait(&opened, MPI_STATUS_IGNORE);
      MPI_Wait(&closed, MPI_STATUS_IGNORE); /* rank 1 has the data; ours may be changed */
    }
    if (rank == 0)
      printf("%-12s%.3f s\n", nonblocking ? "nonblocking" : "blocking", MPI_Wtime() - begin);
  }

  printf("%s: rank %d\n", wrong ? "wrong" : "ok", rank);
  MPI_Group_free(&peer);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
