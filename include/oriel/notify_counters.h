/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file notify_counters.h
 * Notification counters: an RMA operation increments a counter at its target when it has taken
 * effect there. Included by oriel.h. The same calls exist under two other names: those of the MPI
 * Forum's draft (oriel/forum_notify.h) and those of Intel MPI (oriel/intel_notify.h).
 *
 * Source: the MPI Forum's draft of notified communication (issue 59; "Notified communication",
 * section 12.6 of the draft of MPI-5.1), as the Forum voted on it in October 2026. The
 * documentation of a call states what Oriel does if the draft leaves that open.
 *
 * Each rank has its own number of counters on a window, with indices from 0. It has no counters
 * until it has set their number by ORIEL_Win_set_num_notify. An operation names a counter of its
 * target by its index, and increments it by one when the data that it has written is visible in the
 * target's memory, and the memory that it has read may be overwritten. Counters need no queue, so
 * no operation has to wait for space, however many operations there are.
 *
 *  - Epochs, flushes and errors are as in oriel/notify.h. The Forum's draft permits these
 *    operations in lock and lock_all epochs only. Oriel permits them in every epoch, and outside
 *    epochs.
 *  - A flush, an unlock (except a weak one) and a closing fence return after the counters have been
 *    incremented. In a start epoch the counters have been incremented when the target's
 *    MPI_Win_wait returns; the origin's MPI_Win_complete may return earlier.
 *  - Several operations may name one counter, also from several origins. Counters and notifications
 *    with tags (oriel/notify.h) on the same window are independent.
 *  - An operation that names an index that its target does not have fails with
 *    ORIEL_ERR_RMA_NOTIFICATION, and moves and counts nothing. A call on the caller's own counters
 *    fails with the same error if the calling rank does not have the index. On a window that Oriel
 *    does not implement, the calls fail with MPI_ERR_UNSUPPORTED_OPERATION.
 */
#ifndef ORIEL_NOTIFY_COUNTERS_H
#define ORIEL_NOTIFY_COUNTERS_H

#include <mpi.h>

/**
 * Attributes of a window, for MPI_Win_get_attr: the largest number of counters that stays cheap
 * (int*), the largest permitted number of counters (int*; the window's mpi_assert_max_num_notify,
 * if that is given), and the largest value of a counter (MPI_Count*). All three are 0 on a window
 * that cannot have counters, such as one that Oriel does not implement.
 */
#define ORIEL_WIN_NOTIFICATION_NUM_SB 0x0f520001
#define ORIEL_WIN_NOTIFICATION_NUM_UB 0x0f520002
#define ORIEL_WIN_NOTIFICATION_VALUE_UB 0x0f520003

/**
 * Info key for the creation of a window: the largest number of counters that the rank will set.
 * ORIEL_Win_set_num_notify refuses larger numbers. With "0", the default, there is no such limit.
 */
#define ORIEL_ASSERT_MAX_NUM_NOTIFY "mpi_assert_max_num_notify"

/**
 * Info key of ORIEL_Win_set_num_notify (value "true"; default "false"): the calling rank asserts
 * that all ranks set the same number of counters. Oriel checks the assertion. If it does not hold,
 * the call fails with MPI_ERR_ARG on all ranks.
 */
#define ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS "mpi_assert_same_num_notifications"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the error class for an index that has no counter. It is a function call, not a constant
 *  expression: if the MPI library lacks the class, the first call adds it by MPI_Add_error_class.
 *  Call it after MPI_Init. */
int ORIEL_Err_rma_notification(void);
#define ORIEL_ERR_RMA_NOTIFICATION ORIEL_Err_rma_notification()

/**
 * Sets the number of counters of the calling rank on the window, and all counters of all ranks to
 * zero.
 *
 * Collective over the window's group. The call blocks until all ranks have called it and all
 * operations issued before have taken effect. The number may differ between ranks, and may be
 * smaller than before. The calling rank must have no access or exposure epoch open; a fence epoch
 * without operations is closed. Other ranks may have epochs open: the call waits until they have
 * closed them and have called it, too. Each counter takes a cache line of memory. `info` may be
 * MPI_INFO_NULL; its only key is mpi_assert_same_num_notifications.
 *
 * If the call fails on one rank, it fails on all ranks, and the counters and their numbers are
 * unchanged. Errors: MPI_ERR_ARG (the number is negative, or above the window's
 * mpi_assert_max_num_notify; or mpi_assert_same_num_notifications is given and does not hold),
 * MPI_ERR_NO_MEM, MPI_ERR_RMA_SYNC (an epoch is open).
 */
int ORIEL_Win_set_num_notify(MPI_Win win, MPI_Info info, int num);
/** Returns the number of counters of a rank of the window's group: 0 until the first
 *  ORIEL_Win_set_num_notify. Local; does not block. */
int ORIEL_Win_get_num_notify(MPI_Win win, int rank, int* num);
/** Returns the value of a counter of the calling rank. The data of the operations that it counts is
 *  visible. Does not block; a program may call it in a loop. If the value does not change and a
 *  process of the window has ended, such a loop gets MPI_ERR_OTHER; *value is set in that case
 *  too. */
int ORIEL_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
/** Sets a counter of the calling rank. The value is undefined if an operation increments the
 *  counter at the same time: call it only when no operation can. It is also undefined after an
 *  operation has incremented a counter that has the largest value, ORIEL_WIN_NOTIFICATION_VALUE_UB.
 *  A negative value is MPI_ERR_ARG. Local. Source: Intel MPI's MPIX_Win_set_notify. */
int ORIEL_Win_set_notify_value(MPI_Win win, int notification_idx, MPI_Count value);
/** Sets a counter of the calling rank to zero, atomically, and returns its previous value in
 *  *value: no increment is lost. Does not block. As with ORIEL_Win_get_notify_value, a loop of
 *  calls that find no increment gets MPI_ERR_OTHER if a process of the window has ended. */
int ORIEL_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
/**
 * Creates a request that completes when a counter of the calling rank has reached the threshold.
 * The request is not persistent: the MPI_Wait or MPI_Test call that completes it sets it to
 * MPI_REQUEST_NULL. A request whose threshold was reached stays complete when the counter is reset.
 * With a threshold of zero or less the request is complete at once.
 *
 * Local; does not block. A wait fails with MPI_ERR_OTHER if a process of the window has ended, and
 * with MPI_ERR_RMA_SYNC if the counter no longer exists. Source: Intel MPI's
 * MPIX_Win_get_notify_request.
 */
int ORIEL_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count threshold,
                                 MPI_Request* request);

/** MPI_Put that increments a counter of its target. */
int ORIEL_Put_notify_counter(const void* origin_addr, int origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             int target_count, MPI_Datatype target_datatype, int notification_idx,
                             MPI_Win win);
/** MPI_Get that increments a counter of its target: the memory read may be overwritten. */
int ORIEL_Get_notify_counter(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                             int target_rank, MPI_Aint target_disp, int target_count,
                             MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** MPI_Accumulate that increments a counter of its target. */
int ORIEL_Accumulate_notify_counter(const void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                    MPI_Win win);
/** MPI_Get_accumulate that increments a counter of its target, also with MPI_NO_OP. */
int ORIEL_Get_accumulate_notify_counter(const void* origin_addr, int origin_count,
                                        MPI_Datatype origin_datatype, void* result_addr,
                                        int result_count, MPI_Datatype result_datatype,
                                        int target_rank, MPI_Aint target_disp, int target_count,
                                        MPI_Datatype target_datatype, MPI_Op op,
                                        int notification_idx, MPI_Win win);

/* The operations that increment a counter, with large counts. */

int ORIEL_Put_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               MPI_Count target_count, MPI_Datatype target_datatype,
                               int notification_idx, MPI_Win win);
int ORIEL_Get_notify_counter_c(void* origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               MPI_Count target_count, MPI_Datatype target_datatype,
                               int notification_idx, MPI_Win win);
int ORIEL_Accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                      MPI_Datatype origin_datatype, int target_rank,
                                      MPI_Aint target_disp, MPI_Count target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                      MPI_Win win);
int ORIEL_Get_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                          MPI_Datatype origin_datatype, void* result_addr,
                                          MPI_Count result_count, MPI_Datatype result_datatype,
                                          int target_rank, MPI_Aint target_disp,
                                          MPI_Count target_count, MPI_Datatype target_datatype,
                                          MPI_Op op, int notification_idx, MPI_Win win);

/* Request-based forms. As in oriel/notify.h, the request does not mean that the counter has been
 * incremented. Permitted in a lock or lock_all epoch that covers the target, or where no epoch
 * covers it; otherwise MPI_ERR_RMA_SYNC. */

int ORIEL_Rput_notify_counter(const void* origin_addr, int origin_count,
                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                              int target_count, MPI_Datatype target_datatype, int notification_idx,
                              MPI_Win win, MPI_Request* request);
int ORIEL_Rget_notify_counter(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                              int target_rank, MPI_Aint target_disp, int target_count,
                              MPI_Datatype target_datatype, int notification_idx, MPI_Win win,
                              MPI_Request* request);
int ORIEL_Raccumulate_notify_counter(const void* origin_addr, int origin_count,
                                     MPI_Datatype origin_datatype, int target_rank,
                                     MPI_Aint target_disp, int target_count,
                                     MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                     MPI_Win win, MPI_Request* request);
int ORIEL_Rget_accumulate_notify_counter(const void* origin_addr, int origin_count,
                                         MPI_Datatype origin_datatype, void* result_addr,
                                         int result_count, MPI_Datatype result_datatype,
                                         int target_rank, MPI_Aint target_disp, int target_count,
                                         MPI_Datatype target_datatype, MPI_Op op,
                                         int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Rput_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_datatype,
                                int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Rget_notify_counter_c(void* origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_datatype,
                                int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Raccumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                       MPI_Datatype origin_datatype, int target_rank,
                                       MPI_Aint target_disp, MPI_Count target_count,
                                       MPI_Datatype target_datatype, MPI_Op op,
                                       int notification_idx, MPI_Win win, MPI_Request* request);
int ORIEL_Rget_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                           MPI_Datatype origin_datatype, void* result_addr,
                                           MPI_Count result_count, MPI_Datatype result_datatype,
                                           int target_rank, MPI_Aint target_disp,
                                           MPI_Count target_count, MPI_Datatype target_datatype,
                                           MPI_Op op, int notification_idx, MPI_Win win,
                                           MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
