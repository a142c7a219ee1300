/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call of oriel/quo_vadis_names.h under both prefixes. */
#include "oriel/quo_vadis_names.h"

#include <string.h>

#include "paper_names.h"

struct WindowCalls {
  int (*dup)(MPI_Win, MPI_Info, MPI_Win*);
  int (*create)(void*, MPI_Aint, MPI_Info, MPI_Win, void*, int*);
  int (*from)(const void*, MPI_Aint, int, MPI_Info, int, MPI_Win, MPI_Win*);
  int (*release)(void*, MPI_Win);
  int (*intrinsic)(const char*, MPI_Aint, MPI_Datatype, MPI_Win, int*);
};

static void each_window_call(const struct WindowCalls* call) {
  /* A duplicate with another order. */
  int* memory = NULL;
  MPI_Win win = int_window(1, &memory);
  MPI_Win ordered = MPI_WIN_NULL;
  MPI_Info info = MPI_INFO_NULL;
  char value[8] = "";
  int flag = 0;
  DO(MPI_Info_create(&info));
  DO(MPI_Info_set(info, "mpi_win_order", "true"));
  DO(call->dup(win, info, &ordered));
  DO(MPI_Info_free(&info));
  DO(MPI_Win_get_info(ordered, &info));
  DO(MPI_Info_get(info, "mpi_win_order", 7, value, &flag));
  HOLDS(flag && strcmp(value, "true") == 0);
  DO(MPI_Info_free(&info));
  const int mine = 40 + my_rank();
  DO(MPI_Win_lock_all(0, win));
  DO(MPI_Put(&mine, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, ordered));
  DO(MPI_Win_unlock_all(win));
  all_ranks();
  HOLDS(memory[0] == 40 + left_rank());

  /* Oriel's answer under the paper's name. */
  int same = 0;
  flag = -1;
  DO(call->intrinsic("sum,cas", 1, MPI_INT, win, &flag));
  DO(ORIEL_Win_op_intrinsic("sum,cas", 1, MPI_INT, win, &same));
  HOLDS(flag == same && (flag == 0 || flag == 1));
  DO(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  FAILS_WITH(call->intrinsic("cube", 1, MPI_INT, win, &flag), MPI_ERR_ARG);
  DO(MPI_Win_free(&ordered));
  DO(MPI_Win_free(&win));

  /* The left neighbour writes through a memory handle, as in the paper's Figure 6. */
  int exposed = 0;
  int size = 0;
  char handle[MPI_MAX_MEMORY_HANDLE_SIZE];
  char theirs[MPI_MAX_MEMHANDLE_SIZE];
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Win view = MPI_WIN_NULL;
  memset(handle, 0, sizeof handle);
  DO(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
  DO(call->create(&exposed, (MPI_Aint)sizeof exposed, MPI_INFO_NULL, dynamic, handle, &size));
  HOLDS(size > 0 && size <= MPI_MAX_MEMORY_HANDLE_SIZE);
  DO(MPI_Sendrecv(handle, (int)sizeof handle, MPI_BYTE, left_rank(), 0, theirs, (int)sizeof theirs,
                  MPI_BYTE, right_rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  DO(call->from(theirs, (MPI_Aint)sizeof exposed, (int)sizeof(int), MPI_INFO_NULL, right_rank(),
                dynamic, &view));
  DO(MPI_Win_lock_all(0, dynamic));
  DO(MPI_Put(&mine, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, view));
  DO(MPI_Win_flush(right_rank(), view));
  DO(MPI_Win_unlock_all(dynamic));
  DO(MPI_Win_free(&view));
  all_ranks();
  HOLDS(exposed == 40 + left_rank());
  DO(call->release(handle, dynamic));
  DO(MPI_Win_free(&dynamic));
}

/* Operations whose request completes at the target: a message tells the target, without a flush. */
#define EACH_OPERATION(prefix, suffix)                                                             \
  do {                                                                                             \
    DO(prefix##_Rrput##suffix(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win, &request));    \
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                     \
    DO(prefix##_Rraccumulate##suffix(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, MPI_SUM,     \
                                     win, &request));                                              \
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                     \
    DO(prefix##_Rrget_accumulate##suffix(&value, 1, MPI_INT, &old, 1, MPI_INT, right_rank(), 0, 1, \
                                         MPI_INT, MPI_SUM, win, &request));                        \
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                     \
    HOLDS(old == 10);                                                                              \
    all_ranks();                                                                                   \
    HOLDS(memory[0] == 15);                                                                        \
    all_ranks();                                                                                   \
  } while (0)

static void each_operation(void) {
  int* memory = NULL;
  MPI_Win win = int_window(1, &memory);
  const int value = 5;
  int old = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  DO(MPI_Win_lock_all(0, win));
  EACH_OPERATION(MPI, );
  EACH_OPERATION(MPI, _c);
  EACH_OPERATION(MPIX, );
  EACH_OPERATION(MPIX, _c);
  DO(ORIEL_Put_notify(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win, 17));
  DO(MPI_Win_wait_notify(win, 17, &request));
  DO(MPI_Wait(&request, &status));
  HOLDS(status.MPI_TAG == 17 && memory[0] == value);
  DO(MPI_Win_unlock_all(win));
  DO(MPI_Win_free(&win));
}

void test_quo_vadis(void) {
  const struct WindowCalls mpi = {MPI_Win_dup_with_info, MPI_Memhandle_create,
                                  MPI_Win_from_memhandle, MPI_Memhandle_release,
                                  MPI_Win_op_intrinsic};
  const struct WindowCalls mpix = {MPIX_Win_dup_with_info, MPIX_Memhandle_create,
                                   MPIX_Win_from_memhandle, MPIX_Memhandle_release,
                                   MPIX_Win_op_intrinsic};
  each_window_call(&mpi);
  each_window_call(&mpix);
  each_operation();
}
