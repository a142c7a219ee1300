/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank puts a block to every rank in each step. Counters at the target count the blocks; no
 * request is matched and no rank polls for each peer. docs/guides/counters.md explains the
 * program. */
#include <oriel/oriel.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20 };

static double block(int from, int to, int step) {
  return from + 100.0 * to + 10000.0 * step;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* sent = malloc(sizeof(double) * ranks);
  int wrong = 0;

  /* [counting] */
  MPI_Win win;
  double* memory; /* a block of every rank, for even and for odd steps */
  MPI_Win_allocate(2 * ranks * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &win);
  ORIEL_Win_set_num_notify(win, MPI_INFO_NULL, 2); /* collective: two counters on each rank */
  for (int step = 0; step < STEPS; ++step) {
    const int parity = step % 2; /* a peer is at most one step ahead: it waits for us */
    const int half = parity * ranks;
    for (int peer = 0; peer < ranks; ++peer) {
      sent[peer] = block(rank, peer, step);
      ORIEL_Put_notify_counter(&sent[peer], 1, MPI_DOUBLE, peer, half + rank, 1, MPI_DOUBLE, parity,
                               win);
    }
    MPI_Request all; /* completes when the counter has reached the threshold */
    ORIEL_Win_get_notify_request(win, parity, (MPI_Count)(step / 2 + 1) * ranks, &all);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    for (int peer = 0; peer < ranks; ++peer)
      wrong |= memory[half + peer] != block(peer, rank, step);
    MPI_Win_flush_local_all(win); /* the blocks may be written again */
  }
  /* [end] */

  printf("%s: rank %d of %d\n", wrong ? "wrong" : "ok", rank, ranks);
  free(sent);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
