/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's example of a producer and a consumer, by its three names. */
#include "oriel/notified_access_names.h"

#include "paper_names.h"

void test_notified_access(void) {
  int* memory = NULL;
  MPI_Win win = int_window(2, &memory);
  const int tag = 99;
  int value = 7 + my_rank();
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  DO(MPI_Notify_init(win, left_rank(), tag, 1, &request));

  DO(MPI_Put_notify(&value, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, win, tag));
  DO(MPI_Win_flush(right_rank(), win));
  DO(MPI_Start(&request));
  DO(MPI_Wait(&request, &status));
  HOLDS(status.MPI_SOURCE == left_rank() && status.MPI_TAG == tag);
  HOLDS(memory[1] == 7 + left_rank());

  /* A notified read tells its target that the memory may be written again. */
  DO(MPI_Get_notify(&got, 1, MPI_INT, right_rank(), 1, 1, MPI_INT, win, tag));
  DO(MPI_Start(&request));
  DO(MPI_Wait(&request, &status));
  memory[1] = 0;
  DO(MPI_Win_flush(right_rank(), win));
  HOLDS(got == value);
  DO(MPI_Request_free(&request));
  DO(MPI_Win_free(&win));
}
