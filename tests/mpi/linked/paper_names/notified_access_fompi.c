/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of foMPI-NA: every call of its fompi.h. */
#define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY
#include "oriel/notified_access_names.h"

#ifndef ORIEL_NOTIFIED_ACCESS_MPI_NAMES
/* The Forum's names may stand beside foMPI's. */
#include "oriel/forum_notify.h"
#endif

#include <string.h>

#include "paper_names.h"

/* A window, and what a program asks it. */
static void fompi_windows(void) {
  int memory[2] = {0, 0};
  int* base = NULL;
  int attached = 0;
  int flag = 0;
  int keyval = MPI_KEYVAL_INVALID;
  int stored = 5;
  int length = 0;
  int* unit = NULL;
  int* found = NULL;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Group group = MPI_GROUP_NULL;
  foMPI_Win win = foMPI_WIN_NULL;

  DO(foMPI_Win_create(memory, (MPI_Aint)sizeof memory, (int)sizeof(int), MPI_INFO_NULL,
                      MPI_COMM_WORLD, &win));
  DO(foMPI_Win_get_group(win, &group));
  HOLDS(group != MPI_GROUP_NULL);
  DO(MPI_Group_free(&group));
  DO(foMPI_Win_set_name(win, "named"));
  DO(foMPI_Win_get_name(win, name, &length));
  HOLDS(length == 5 && strcmp(name, "named") == 0);
  DO(foMPI_Win_get_attr(win, foMPI_WIN_DISP_UNIT, &unit, &flag));
  HOLDS(flag && *unit == (int)sizeof(int));
  DO(foMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
  DO(foMPI_Win_set_attr(win, keyval, &stored));
  DO(foMPI_Win_get_attr(win, keyval, &found, &flag));
  HOLDS(flag && found == &stored);
  DO(foMPI_Win_delete_attr(win, keyval));
  DO(foMPI_Win_get_attr(win, keyval, &found, &flag));
  HOLDS(!flag);
  DO(foMPI_Win_free_keyval(&keyval));
  DO(foMPI_Win_free(&win));
  HOLDS(win == foMPI_WIN_NULL);

  DO(foMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  DO(foMPI_Win_attach(win, &attached, (MPI_Aint)sizeof attached));
  DO(foMPI_Win_detach(win, &attached));
  DO(foMPI_Win_free(&win));
  DO(foMPI_Alloc_mem((MPI_Aint)sizeof(int), MPI_INFO_NULL, &base));
  *base = 1;
  DO(MPI_Free_mem(base));
}

/* Each epoch, and each operation in one. */
static void fompi_epochs(void) {
  int* memory = NULL;
  foMPI_Win win = foMPI_WIN_NULL;
  const int right = right_rank();
  const int value = 3;
  const int four = 4;
  int got[4] = {0, 0, 0, 0};
  int flag = 0;
  foMPI_Request request[4];
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  DO(foMPI_Win_allocate((MPI_Aint)(4 * sizeof(int)), (int)sizeof(int), MPI_INFO_NULL,
                        MPI_COMM_WORLD, &memory, &win));
  for (int i = 0; i < 4; ++i) memory[i] = 0;
  DO(foMPI_Win_fence(foMPI_MODE_NOPRECEDE, win));
  DO(foMPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win));
  DO(foMPI_Win_fence(foMPI_MODE_NOSUCCEED, win));
  HOLDS(memory[0] == 3);

  MPI_Group origins = one_rank(win, left_rank());
  MPI_Group targets = one_rank(win, right);
  DO(foMPI_Win_post(origins, 0, win));
  DO(foMPI_Win_start(targets, 0, win));
  DO(foMPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, foMPI_SUM, win));
  DO(foMPI_Win_complete(win));
  DO(foMPI_Win_wait(win));
  HOLDS(memory[0] == 6);
  DO(foMPI_Win_post(origins, foMPI_MODE_NOSTORE, win));
  DO(foMPI_Win_start(targets, 0, win));
  DO(foMPI_Win_complete(win));
  while (!flag) DO(foMPI_Win_test(win, &flag));
  DO(MPI_Group_free(&origins));
  DO(MPI_Group_free(&targets));
  all_ranks();

  DO(foMPI_Win_lock(foMPI_LOCK_EXCLUSIVE, right, 0, win));
  DO(foMPI_Get(&got[0], 1, MPI_INT, right, 0, 1, MPI_INT, win));
  DO(foMPI_Win_flush_local(right, win));
  HOLDS(got[0] == 6);
  DO(foMPI_Get_accumulate(&value, 1, MPI_INT, &got[1], 1, MPI_INT, right, 0, 1, MPI_INT,
                          foMPI_REPLACE, win));
  DO(foMPI_Win_flush(right, win));
  HOLDS(got[1] == 6);
  DO(foMPI_Fetch_and_op(&value, &got[2], MPI_INT, right, 0, foMPI_PROD, win));
  DO(foMPI_Win_flush_all(win));
  HOLDS(got[2] == 3);
  const int nine = 9;
  DO(foMPI_Compare_and_swap(&four, &nine, &got[3], MPI_INT, right, 0, win));
  DO(foMPI_Win_flush_local_all(win));
  HOLDS(got[3] == 9);
  DO(foMPI_Win_unlock(right, win));
  all_ranks();

  DO(foMPI_Win_lock_all(0, win));
  DO(foMPI_Win_sync(win));
  HOLDS(memory[0] == 4);
  DO(foMPI_Rput(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win, &request[0]));
  DO(foMPI_Raccumulate(&value, 1, MPI_INT, right, 2, 1, MPI_INT, foMPI_SUM, win, &request[1]));
  DO(foMPI_Rget(&got[0], 1, MPI_INT, right, 0, 1, MPI_INT, win, &request[2]));
  DO(foMPI_Rget_accumulate(&value, 1, MPI_INT, &got[1], 1, MPI_INT, right, 3, 1, MPI_INT,
                           foMPI_NO_OP, win, &request[3]));
  int done = 0;
  while (done < 4) {
    int number = 0;
    int places[4];
    DO(foMPI_Testsome(4, request, &number, places, MPI_STATUSES_IGNORE));
    if (number > 0) done += number;
    if (done == 4) break;
    DO(foMPI_Waitsome(4, request, &number, places, MPI_STATUSES_IGNORE));
    if (number > 0) done += number;
  }
  HOLDS(got[0] == 4 && got[1] == 0);
  DO(foMPI_Win_unlock_all(win));
  all_ranks();
  HOLDS(memory[1] == 3 && memory[2] == 3);
  DO(foMPI_Win_free(&win));
  DO(MPI_Type_contiguous(2, MPI_INT, &pair));
  DO(foMPI_Type_free(&pair));
  HOLDS(pair == MPI_DATATYPE_NULL);
}

/* Notified operations, and requests for them in each wait and test. */
static void fompi_notified(void) {
  int* memory = NULL;
  MPI_Win win = int_window(3, &memory);
  const int right = right_rank();
  const int value = 20 + my_rank();
  int got = 0;
  int place = foMPI_UNDEFINED;
  int flag = 0;
  MPI_Status status;
  foMPI_Request arrived = foMPI_REQUEST_NULL;
  foMPI_Request sent = foMPI_REQUEST_NULL;
  DO(foMPI_Win_lock_all(0, win));
  DO(foMPI_Notify_init(win, foMPI_ANY_SOURCE, foMPI_ANY_TAG, 1, &arrived));

  DO(foMPI_Put_notify(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win, 1));
  DO(foMPI_Start(&arrived));
  DO(foMPI_Wait(&arrived, &status));
  HOLDS(status.MPI_TAG == 1 && status.MPI_SOURCE == left_rank());
  HOLDS(memory[0] == 20 + left_rank());

  DO(foMPI_Get_notify(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, 2));
  DO(foMPI_Start(&arrived));
  while (!flag) DO(foMPI_Test(&arrived, &flag, &status));
  HOLDS(status.MPI_TAG == 2);
  DO(foMPI_Win_flush_local(right, win));
  HOLDS(got == value);

  DO(foMPI_Rput_notify(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win, &sent, foMPI_TAG_UB));
  DO(foMPI_Wait(&sent, MPI_STATUS_IGNORE));
  DO(foMPI_Start(&arrived));
  DO(foMPI_Waitany(1, &arrived, &place, &status));
  HOLDS(place == 0 && status.MPI_TAG == foMPI_TAG_UB && memory[1] == 20 + left_rank());

  got = 0;
  DO(foMPI_Rget_notify(&got, 1, MPI_INT, right, 1, 1, MPI_INT, win, &sent, 3));
  DO(foMPI_Wait(&sent, MPI_STATUS_IGNORE));
  HOLDS(got == value);
  DO(foMPI_Start(&arrived));
  flag = 0;
  while (!flag) DO(foMPI_Testany(1, &arrived, &place, &flag, &status));
  HOLDS(place == 0 && status.MPI_TAG == 3);

  /* With any tag there is no notification: the next one is the first to arrive. */
  all_ranks();
  DO(foMPI_Put_notify(&value, 1, MPI_INT, right, 2, 1, MPI_INT, win, foMPI_ANY_TAG));
  DO(foMPI_Rput_notify(&value, 1, MPI_INT, right, 2, 1, MPI_INT, win, &sent, foMPI_ANY_TAG));
  DO(foMPI_Wait(&sent, MPI_STATUS_IGNORE));
  DO(foMPI_Get_notify(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, foMPI_ANY_TAG));
  DO(foMPI_Rget_notify(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, &sent, foMPI_ANY_TAG));
  DO(foMPI_Wait(&sent, MPI_STATUS_IGNORE));
  DO(foMPI_Win_flush_all(win));
  DO(foMPI_Put_notify(&value, 0, MPI_INT, right, 0, 0, MPI_INT, win, 4));
  DO(foMPI_Start(&arrived));
  DO(foMPI_Wait(&arrived, &status));
  HOLDS(status.MPI_TAG == 4 && memory[2] == 20 + left_rank());
  DO(foMPI_Request_free(&arrived));
  HOLDS(arrived == foMPI_REQUEST_NULL);
  DO(foMPI_Win_unlock_all(win));
  DO(foMPI_Win_free(&win));
}

void test_fompi(void) {
  fompi_windows();
  fompi_epochs();
  fompi_notified();
}
