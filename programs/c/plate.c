/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat spreads over a plate, whose rows are distributed over the ranks; in each step a burner is
 * over the rows of another rank. docs/guides/slow.md explains the program.
 *   plate                each step closes its epoch by MPI_Win_fence
 *   plate nonblocking    by ORIEL_Win_ifence, and computes meanwhile */
#include <oriel/oriel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 256, COLUMNS = 2048, BURNT_ROWS = 32, STEPS = 200 };

/* The rank's rows, between the edges of its neighbours. */
typedef double Plate[ROWS + 2][COLUMNS];

/* Returns the heat that the burner has added. */
static double burn(Plate plate, int step) {
  double added = 0;
  for (int row = 1; row <= BURNT_ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      const double heat = 1 + sin(0.01 * column + step) * cos(0.1 * row);
      plate[row][column] += heat;
      added += heat;
    }
  return added;
}

static void spread(Plate now, Plate next, int first, int last) {
  for (int row = first; row <= last; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      const int left = column > 0 ? column - 1 : column;
      const int right = column < COLUMNS - 1 ? column + 1 : column;
      const double around =
          now[row - 1][column] + now[row + 1][column] + now[row][left] + now[row][right];
      next[row][column] = now[row][column] + 0.1 * (around - 4 * now[row][column]);
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int nonblocking = argc > 1 && strcmp(argv[1], "nonblocking") == 0;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int above = (rank + ranks - 1) % ranks, below = (rank + 1) % ranks;

  Plate* plates; /* of this step and of the next one, in turn */
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(Plate), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &plates, &win);
  MPI_Win_set_name(win, "plates");
  memset(plates, 0, 2 * sizeof(Plate));
  double added = 0;
  MPI_Win_fence(0, win);
  const double begin = MPI_Wtime();
  for (int step = 0; step < STEPS; ++step) {
    double(*now)[COLUMNS] = plates[step % 2], (*next)[COLUMNS] = plates[1 - step % 2];
    const MPI_Aint there = step % 2 * (ROWS + 2) * COLUMNS;
    if (step % ranks == rank) added += burn(now, step);
    MPI_Put(now[1], COLUMNS, MPI_DOUBLE, above, there + (ROWS + 1) * COLUMNS, COLUMNS, MPI_DOUBLE,
            win);
    MPI_Put(now[ROWS], COLUMNS, MPI_DOUBLE, below, there, COLUMNS, MPI_DOUBLE, win);
    if (!nonblocking) {
      /* [blocking] */
      MPI_Win_fence(0, win); /* waits for the rank under the burner */
      spread(now, next, 1, ROWS);
      /* [end of blocking] */
    } else {
      /* [nonblocking] */
      MPI_Request fence;
      ORIEL_Win_ifence(0, win, &fence);
      spread(now, next, 2, ROWS - 1); /* the rows that need nothing of the neighbours */
      MPI_Wait(&fence, MPI_STATUS_IGNORE);
      spread(now, next, 1, 1);
      spread(now, next, ROWS, ROWS);
      /* [end] */
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d steps in %.3f s\n", STEPS, MPI_Wtime() - begin);

  double sums[2] = {0, added}; /* what is there, and what has been added */
  for (int row = 1; row <= ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) sums[0] += plates[STEPS % 2][row][column];
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const int wrong = fabs(sums[0] - sums[1]) > 1e-9 * sums[1];
  printf("%s: rank %d\n", wrong ? "wrong" : "ok", rank);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
