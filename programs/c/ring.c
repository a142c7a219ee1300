/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat spreads in a ring of cells, ten on each rank. In each step a rank puts its two edges into
 * its neighbours' windows and waits for theirs: no epoch, no flag and no barrier.
 * docs/guides/halo.md explains the program. */
#include <oriel/oriel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 10, STEPS = 100, TAG = 1 };

static double beginning(int cell) {
  return cell * 7 % 13;
}

/* One step: of cells, the one before them and the one behind them. */
static void spread(double* cells, int count, double before, double after) {
  for (int i = 0; i < count; ++i) {
    const double now = cells[i];
    const double next = i + 1 < count ? cells[i + 1] : after;
    cells[i] = now + 0.25 * (before - 2 * now + next);
    before = now;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

  double heat[CELLS], edges[2];
  for (int i = 0; i < CELLS; ++i) heat[i] = beginning(rank * CELLS + i);
  double* whole = malloc(sizeof(double) * CELLS * ranks); /* to check the result */
  for (int i = 0; i < CELLS * ranks; ++i) whole[i] = beginning(i);

  /* [exchange] */
  MPI_Win win;
  double* halo; /* from the left and from the right, for even and for odd steps */
  MPI_Win_allocate(4 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &halo, &win);
  MPI_Request arrived[2]; /* persistent: made once, started for each step */
  ORIEL_Notify_init(win, left, TAG, 1, &arrived[0]);
  ORIEL_Notify_init(win, right, TAG, 1, &arrived[1]);
  for (int step = 0; step < STEPS; ++step) {
    const int slot = 2 * (step % 2); /* a neighbour is at most one step ahead: it waits for us */
    edges[0] = heat[0];
    edges[1] = heat[CELLS - 1];
    MPI_Startall(2, arrived);
    ORIEL_Put_notify(&edges[0], 1, MPI_DOUBLE, left, slot + 1, 1, MPI_DOUBLE, win, TAG);
    ORIEL_Put_notify(&edges[1], 1, MPI_DOUBLE, right, slot, 1, MPI_DOUBLE, win, TAG);
    MPI_Waitall(2, arrived, MPI_STATUSES_IGNORE); /* both neighbours' edges are in our window */
    MPI_Win_flush_local_all(win);                 /* our edges may be written again */
    spread(heat, CELLS, halo[slot], halo[slot + 1]);
  }
  MPI_Request_free(&arrived[0]);
  MPI_Request_free(&arrived[1]);
  /* [end] */

  for (int step = 0; step < STEPS; ++step)
    spread(whole, CELLS * ranks, whole[CELLS * ranks - 1], whole[0]);
  int wrong = 0;
  for (int i = 0; i < CELLS; ++i) wrong |= fabs(heat[i] - whole[rank * CELLS + i]) > 1e-9;
  printf("%s: rank %d of %d\n", wrong ? "wrong" : "ok", rank, ranks);
  free(whole);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
