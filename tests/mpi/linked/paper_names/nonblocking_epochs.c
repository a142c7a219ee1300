/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call of oriel/nonblocking_epochs_names.h under both prefixes. */
#include "oriel/nonblocking_epochs_names.h"

#include "paper_names.h"

struct EpochCalls {
  int (*ipost)(MPI_Group, int, MPI_Win, MPI_Request*);
  int (*istart)(MPI_Group, int, MPI_Win, MPI_Request*);
  int (*icomplete)(MPI_Win, MPI_Request*);
  int (*iwait)(MPI_Win, MPI_Request*);
  int (*ifence)(int, MPI_Win, MPI_Request*);
  int (*ilock)(int, int, int, MPI_Win, MPI_Request*);
  int (*ilock_all)(int, MPI_Win, MPI_Request*);
  int (*iunlock)(int, MPI_Win, MPI_Request*);
  int (*iunlock_all)(MPI_Win, MPI_Request*);
  int (*iflush)(int, MPI_Win, MPI_Request*);
  int (*iflush_local)(int, MPI_Win, MPI_Request*);
  int (*iflush_all)(MPI_Win, MPI_Request*);
  int (*iflush_local_all)(MPI_Win, MPI_Request*);
};

static void put_right(const int* value, int place, MPI_Win win) {
  DO(MPI_Put(value, 1, MPI_INT, right_rank(), place, 1, MPI_INT, win));
}

static void wait_for(MPI_Request* request) {
  DO(MPI_Wait(request, MPI_STATUS_IGNORE));
  HOLDS(*request == MPI_REQUEST_NULL);
}

static void each_epoch(const struct EpochCalls* call) {
  int* memory = NULL;
  const MPI_Win win = int_window(4, &memory);
  const int value = 100 + my_rank();
  const int expected = 100 + left_rank();
  MPI_Group origins = one_rank(win, left_rank());
  MPI_Group targets = one_rank(win, right_rank());
  MPI_Request request[4];

  DO(call->ipost(origins, 0, win, &request[0]));
  DO(call->istart(targets, 0, win, &request[1]));
  put_right(&value, 0, win);
  DO(call->icomplete(win, &request[2]));
  DO(call->iwait(win, &request[3]));
  DO(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
  HOLDS(memory[0] == expected);
  DO(MPI_Group_free(&origins));
  DO(MPI_Group_free(&targets));

  all_ranks();
  DO(call->ifence(MPI_MODE_NOPRECEDE, win, &request[0]));
  put_right(&value, 1, win);
  DO(call->ifence(MPI_MODE_NOSUCCEED, win, &request[1]));
  DO(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  HOLDS(memory[1] == expected);

  all_ranks();
  DO(call->ilock(MPI_LOCK_SHARED, right_rank(), 0, win, &request[0]));
  wait_for(&request[0]);
  put_right(&value, 2, win);
  DO(call->iflush_local(right_rank(), win, &request[0]));
  wait_for(&request[0]);
  DO(call->iflush(right_rank(), win, &request[0]));
  wait_for(&request[0]);
  DO(call->iunlock(right_rank(), win, &request[0]));
  wait_for(&request[0]);

  DO(call->ilock_all(0, win, &request[0]));
  wait_for(&request[0]);
  put_right(&value, 3, win);
  DO(call->iflush_local_all(win, &request[0]));
  wait_for(&request[0]);
  DO(call->iflush_all(win, &request[0]));
  wait_for(&request[0]);
  DO(call->iunlock_all(win, &request[0]));
  wait_for(&request[0]);
  all_ranks();
  HOLDS(memory[2] == expected && memory[3] == expected);
  MPI_Win freed = win;
  DO(MPI_Win_free(&freed));
}

void test_nonblocking_epochs(void) {
  const struct EpochCalls mpi = {MPI_Win_ipost,           MPI_Win_istart,       MPI_Win_icomplete,
                                 MPI_Win_iwait,           MPI_Win_ifence,       MPI_Win_ilock,
                                 MPI_Win_ilock_all,       MPI_Win_iunlock,      MPI_Win_iunlock_all,
                                 MPI_Win_iflush,          MPI_Win_iflush_local, MPI_Win_iflush_all,
                                 MPI_Win_iflush_local_all};
  const struct EpochCalls mpix = {
      MPIX_Win_ipost,           MPIX_Win_istart, MPIX_Win_icomplete,    MPIX_Win_iwait,
      MPIX_Win_ifence,          MPIX_Win_ilock,  MPIX_Win_ilock_all,    MPIX_Win_iunlock,
      MPIX_Win_iunlock_all,     MPIX_Win_iflush, MPIX_Win_iflush_local, MPIX_Win_iflush_all,
      MPIX_Win_iflush_local_all};
  each_epoch(&mpi);
  each_epoch(&mpix);
}
