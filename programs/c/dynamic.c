/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 makes lists that grow. It exposes each one by a memory handle, without a collective call;
 * the other ranks fetch it and notify rank 0 that the memory may be freed.
 * docs/guides/dynamic_data.md explains the program. */
#include <oriel/oriel.h>

#include <stdio.h>
#include <stdlib.h>

enum { LISTS = 5, FETCHED = 1 };

typedef struct {
  char handle[ORIEL_MAX_MEMHANDLE_SIZE];
  int length;
} List;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = 0;

  /* [exposure] */
  MPI_Win dynamic, news; /* memory comes and goes in the first, the second only notifies */
  char* none;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none, &news);
  MPI_Request fetched;
  ORIEL_Notify_init(news, MPI_ANY_SOURCE, FETCHED, ranks - 1, &fetched);
  MPI_Win_lock_all(0, dynamic);
  for (int turn = 0; turn < LISTS; ++turn) {
    List list;
    double* values = NULL;
    if (rank == 0) {
      int bytes;
      list.length = 1000 << turn;
      values = malloc(sizeof(double) * list.length);
      for (int i = 0; i < list.length; ++i) values[i] = turn + i;
      ORIEL_Memhandle_create(values, sizeof(double) * list.length, MPI_INFO_NULL, dynamic,
                             list.handle, &bytes);
    }
    MPI_Bcast(&list, sizeof list, MPI_BYTE, 0, MPI_COMM_WORLD); /* a handle is bytes */
    if (rank == 0) {
      MPI_Start(&fetched);
      MPI_Wait(&fetched, MPI_STATUS_IGNORE); /* all others have fetched the list */
      ORIEL_Memhandle_release(list.handle, dynamic);
      free(values);
    } else {
      MPI_Win there; /* a window on the list, made without asking its owner */
      ORIEL_Win_from_memhandle(list.handle, sizeof(double) * list.length, sizeof(double),
                               MPI_INFO_NULL, 0, dynamic, &there);
      double* copy = malloc(sizeof(double) * list.length);
      MPI_Get(copy, list.length, MPI_DOUBLE, 0, 0, list.length, MPI_DOUBLE, there);
      MPI_Win_flush(0, there);
      MPI_Win_free(&there); /* local */
      ORIEL_Put_notify(NULL, 0, MPI_BYTE, 0, 0, 0, MPI_BYTE, news, FETCHED);
      for (int i = 0; i < list.length; ++i) wrong |= copy[i] != turn + i;
      free(copy);
    }
  }
  MPI_Win_unlock_all(dynamic);
  MPI_Request_free(&fetched);
  /* [end] */

  printf("%s: rank %d of %d\n", wrong ? "wrong" : "ok", rank, ranks);
  MPI_Win_free(&news);
  MPI_Win_free(&dynamic);
  MPI_Finalize();
  return wrong;
}
