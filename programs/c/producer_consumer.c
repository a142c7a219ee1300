/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 produces items, the last rank consumes them. The consumer's window is a ring of slots; the
 * consumer tells the producer by a put of no elements that a slot is free.
 * docs/guides/producer_consumer.md explains the program. */
#include <oriel/oriel.h>

#include <stdio.h>

enum { ITEMS = 1000, SLOTS = 8, FILLED = 1, FREE = 2 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int producer = 0, consumer = ranks - 1;
  int wrong = ranks < 2;

  /* [ring] */
  MPI_Win win;
  double* slots;
  MPI_Win_allocate(SLOTS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &slots,
                   &win);
  if (rank == producer && !wrong) {
    double items[SLOTS];
    MPI_Request one_free;
    ORIEL_Notify_init(win, consumer, FREE, 1, &one_free);
    for (int i = 0; i < ITEMS; ++i) {
      if (i >= SLOTS) { /* the first items find the ring empty */
        MPI_Start(&one_free);
        MPI_Wait(&one_free, MPI_STATUS_IGNORE);
      }
      if (i > 0 && i % SLOTS == 0) MPI_Win_flush_local(consumer, win); /* items may be reused */
      items[i % SLOTS] = 0.5 * i;
      ORIEL_Put_notify(&items[i % SLOTS], 1, MPI_DOUBLE, consumer, i % SLOTS, 1, MPI_DOUBLE, win,
                       FILLED);
    }
    MPI_Win_flush(consumer, win);
    MPI_Request_free(&one_free);
  } else if (rank == consumer && !wrong) {
    MPI_Request one_filled;
    ORIEL_Notify_init(win, producer, FILLED, 1, &one_filled);
    for (int i = 0; i < ITEMS; ++i) {
      MPI_Start(&one_filled);
      MPI_Wait(&one_filled, MPI_STATUS_IGNORE);
      wrong |= slots[i % SLOTS] != 0.5 * i;
      if (i + SLOTS < ITEMS) /* notifies only: no data, nothing to flush */
        ORIEL_Put_notify(NULL, 0, MPI_DOUBLE, producer, 0, 0, MPI_DOUBLE, win, FREE);
    }
    MPI_Request_free(&one_filled);
  }
  /* [end] */

  if (ranks < 2) printf("This program takes two ranks or more: oriel run -n 2 ...\n");
  printf("%s: rank %d of %d\n", wrong ? "wrong" : "ok", rank, ranks);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
