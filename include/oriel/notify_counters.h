/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file notify_counters.h
 * Notification counters: the target of an RMA operation learns how many of them have taken place.
 * Included by oriel.h. Programs that want the MPI Forum's names include oriel/forum_notify.h,
 * programs that were written for Intel MPI's calls oriel/intel_notify.h: three spellings of one
 * thing.
 *
 * Source: the MPI Forum's draft of notified communication (issue 59; "Notified communication",
 * section 12.6 of the draft of MPI-5.1), as it was in 2026. Where the draft leaves something open,
 * the call says what holds here.
 *
 * Each rank has its own number of counters on a window, numbered from 0: as many as it has asked
 * for by ORIEL_Win_set_num_notify, none before. An operation that names a counter of its target
 * adds one to it there, once what it has written is visible in the target's memory, and what it has
 * read may be overwritten. Nothing is queued and nobody is held up, however many operations there
 * are.
 *
 *  - Epochs, flushes and errors are as in oriel/notify.h. The Forum allows these operations in lock
 *    and lock_all epochs only; here they are allowed in every epoch, and in none.
 *  - A flush, an unlock (but a weak one) and a closing fence return after the counters have been
 *    added to. In a start epoch the target's MPI_Win_wait does, not the origin's MPI_Win_complete.
 *  - Several operations may name one counter, also from several origins, and a tag's notification
 *    (oriel/notify.h) of the same window has nothing to do with it.
 *  - An index that the target (or, of the calls on own counters, the calling rank) does not have is
 *    ORIEL_ERR_RMA_NOTIFICATION: nothing was moved or counted. On a window that Oriel does
 *    not carry the calls fail with MPI_ERR_UNSUPPORTED_OPERATION.
 */
#ifndef ORIEL_NOTIFY_COUNTERS_H
#define ORIEL_NOTIFY_COUNTERS_H

#include <mpi.h>

/**
 * Attributes of a window, for MPI_Win_get_attr. How many counters a rank should have at most so
 * that they cost little (int*), how many it may have (int*; the window's mpi_assert_max_num_notify,
 * if that is given), and the largest value of a counter (MPI_Count*). Zeros: the window has none.
 */
#define ORIEL_WIN_NOTIFICATION_NUM_SB 0x0f520001
#define ORIEL_WIN_NOTIFICATION_NUM_UB 0x0f520002
#define ORIEL_WIN_NOTIFICATION_VALUE_UB 0x0f520003

/**
 * Info key, when a window is made: the rank will never ask for more counters than this number ("0",
 * the default: nothing is promised). ORIEL_Win_set_num_notify holds it to that.
 */
#define ORIEL_ASSERT_MAX_NUM_NOTIFY "mpi_assert_max_num_notify"

#ifdef __cplusplus
extern "C" {
#endif

/** The error class of a counter that is not there. A function call, not a constant expression:
 * hosts that do not have it are given it by MPI_Add_error_class, at the first call. After MPI_Init.
 */
int ORIEL_Err_rma_notification(void);
#define ORIEL_ERR_RMA_NOTIFICATION ORIEL_Err_rma_notification()

/**
 * Sets how many counters the calling rank has on the window, and all counters of all ranks to zero.
 *
 * Collective over the window's group; blocks until all ranks have called it and all operations
 * issued before have taken place. Ranks need not give the same number, nor a larger one than
 * before. No access or exposure epoch may be open here; a fence epoch in which nothing has been
 * issued is closed. Each counter takes a cache line of memory. `info` may be MPI_INFO_NULL; no key
 * is known.
 *
 * If one rank's part fails, the call fails on all ranks, and numbers and counters stay as they
 * were. Errors: MPI_ERR_ARG (the number is negative, or above the window's
 * mpi_assert_max_num_notify), MPI_ERR_NO_MEM, MPI_ERR_RMA_SYNC (an epoch is open).
 */
int ORIEL_Win_set_num_notify(MPI_Win win, MPI_Info info, int num);
/** How many counters a rank of the window's group has: 0 until the first ORIEL_Win_set_num_notify.
 *  Local; does not block. */
int ORIEL_Win_get_num_notify(MPI_Win win, int rank, int* num);
/** The value of a counter of the calling rank. What the operations that it counts have written is
 *  visible. Does not block; a program may call it in a loop. If a process of the window has ended,
 *  such a loop is told so by MPI_ERR_OTHER; *value is set all the same. */
int ORIEL_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
/** Sets a counter of the calling rank. What additions that take place at the same time count is
 *  undefined: use it when there can be none. A negative value is MPI_ERR_ARG. Local. Source: Intel
 *  MPI's MPIX_Win_set_notify. */
int ORIEL_Win_set_notify_value(MPI_Win win, int notification_idx, MPI_Count value);
/** Sets a counter of the calling rank to zero, atomically: *value is what it was, and no addition
 *  is lost. Does not block; like get_notify_value, a loop of it that finds nothing is told by
 *  MPI_ERR_OTHER when a process of the window has ended. */
int ORIEL_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
/**
 * A request that is complete when a counter of the calling rank has reached the threshold. It works
 * like any other (MPI_Wait, MPI_Test and their families), once: the handle is MPI_REQUEST_NULL
 * afterwards. A request that has seen the threshold stays complete when the counter is reset. A
 * threshold of zero or less is complete at once.
 *
 * Local; does not block. A wait fails with MPI_ERR_OTHER when a process of the window has ended,
 * and with MPI_ERR_RMA_SYNC when the counter is gone. Source: Intel MPI's
 * MPIX_Win_get_notify_request.
 */
int ORIEL_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count threshold,
                                 MPI_Request* request);

/** MPI_Put that adds one to a counter of its target. */
int ORIEL_Put_notify_counter(const void* origin_addr, int origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             int target_count, MPI_Datatype target_datatype, int notification_idx,
                             MPI_Win win);
/** MPI_Get that adds one to a counter of its target: what it has read may be overwritten there. */
int ORIEL_Get_notify_counter(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                             int target_rank, MPI_Aint target_disp, int target_count,
                             MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** MPI_Accumulate that adds one to a counter of its target. */
int ORIEL_Accumulate_notify_counter(const void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                    MPI_Win win);
/** MPI_Get_accumulate that adds one to a counter of its target, also with MPI_NO_OP. */
int ORIEL_Get_accumulate_notify_counter(const void* origin_addr, int origin_count,
                                        MPI_Datatype origin_datatype, void* result_addr,
                                        int result_count, MPI_Datatype result_datatype,
                                        int target_rank, MPI_Aint target_disp, int target_count,
                                        MPI_Datatype target_datatype, MPI_Op op,
                                        int notification_idx, MPI_Win win);

/* The same with large counts. */

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

/* Request-based: as those of oriel/notify.h, the request says nothing of the counter. In a lock or
 * lock_all epoch that covers the target, or with no epoch that does; else MPI_ERR_RMA_SYNC. */

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

/* The same under the names that tools call. */

int PORIEL_Err_rma_notification(void);
int PORIEL_Win_set_num_notify(MPI_Win win, MPI_Info info, int num);
int PORIEL_Win_get_num_notify(MPI_Win win, int rank, int* num);
int PORIEL_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
int PORIEL_Win_set_notify_value(MPI_Win win, int notification_idx, MPI_Count value);
int PORIEL_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count* value);
int PORIEL_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count threshold,
                                  MPI_Request* request);
int PORIEL_Put_notify_counter(const void* origin_addr, int origin_count,
                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                              int target_count, MPI_Datatype target_datatype, int notification_idx,
                              MPI_Win win);
int PORIEL_Get_notify_counter(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                              int target_rank, MPI_Aint target_disp, int target_count,
                              MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int PORIEL_Accumulate_notify_counter(const void* origin_addr, int origin_count,
                                     MPI_Datatype origin_datatype, int target_rank,
                                     MPI_Aint target_disp, int target_count,
                                     MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                     MPI_Win win);
int PORIEL_Get_accumulate_notify_counter(const void* origin_addr, int origin_count,
                                         MPI_Datatype origin_datatype, void* result_addr,
                                         int result_count, MPI_Datatype result_datatype,
                                         int target_rank, MPI_Aint target_disp, int target_count,
                                         MPI_Datatype target_datatype, MPI_Op op,
                                         int notification_idx, MPI_Win win);
int PORIEL_Put_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_datatype,
                                int notification_idx, MPI_Win win);
int PORIEL_Get_notify_counter_c(void* origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_datatype,
                                int notification_idx, MPI_Win win);
int PORIEL_Accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                       MPI_Datatype origin_datatype, int target_rank,
                                       MPI_Aint target_disp, MPI_Count target_count,
                                       MPI_Datatype target_datatype, MPI_Op op,
                                       int notification_idx, MPI_Win win);
int PORIEL_Get_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                           MPI_Datatype origin_datatype, void* result_addr,
                                           MPI_Count result_count, MPI_Datatype result_datatype,
                                           int target_rank, MPI_Aint target_disp,
                                           MPI_Count target_count, MPI_Datatype target_datatype,
                                           MPI_Op op, int notification_idx, MPI_Win win);
int PORIEL_Rput_notify_counter(const void* origin_addr, int origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               int target_count, MPI_Datatype target_datatype, int notification_idx,
                               MPI_Win win, MPI_Request* request);
int PORIEL_Rget_notify_counter(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                               int target_rank, MPI_Aint target_disp, int target_count,
                               MPI_Datatype target_datatype, int notification_idx, MPI_Win win,
                               MPI_Request* request);
int PORIEL_Raccumulate_notify_counter(const void* origin_addr, int origin_count,
                                      MPI_Datatype origin_datatype, int target_rank,
                                      MPI_Aint target_disp, int target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, int notification_idx,
                                      MPI_Win win, MPI_Request* request);
int PORIEL_Rget_accumulate_notify_counter(const void* origin_addr, int origin_count,
                                          MPI_Datatype origin_datatype, void* result_addr,
                                          int result_count, MPI_Datatype result_datatype,
                                          int target_rank, MPI_Aint target_disp, int target_count,
                                          MPI_Datatype target_datatype, MPI_Op op,
                                          int notification_idx, MPI_Win win, MPI_Request* request);
int PORIEL_Rput_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, int notification_idx, MPI_Win win,
                                 MPI_Request* request);
int PORIEL_Rget_notify_counter_c(void* origin_addr, MPI_Count origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, int notification_idx, MPI_Win win,
                                 MPI_Request* request);
int PORIEL_Raccumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
                                        MPI_Datatype origin_datatype, int target_rank,
                                        MPI_Aint target_disp, MPI_Count target_count,
                                        MPI_Datatype target_datatype, MPI_Op op,
                                        int notification_idx, MPI_Win win, MPI_Request* request);
int PORIEL_Rget_accumulate_notify_counter_c(const void* origin_addr, MPI_Count origin_count,
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
