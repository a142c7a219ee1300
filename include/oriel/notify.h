/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file notify.h
 * Notified access: an RMA operation notifies its target when it has taken effect there. Included
 * by oriel.h.
 *
 * Source: "Notified Access: Extending Remote Memory Access Programming Models for Producer-Consumer
 * Synchronization", section III.
 *
 * A notified operation is the MPI operation of the same name, followed by a notification to its
 * target with a tag that the caller chooses.
 *  - Visibility. The data of a notified write is visible in the target's memory when the
 *    notification has arrived, or when a call that flushes or closes its epoch has returned. Before
 *    that, possibly none of the data has arrived. When the notification of a notified read has
 *    arrived, the target may overwrite the memory that was read.
 *  - Epochs. If an open epoch (fence, start, lock, lock_all) covers the target, the operation
 *    belongs to that epoch: it starts when any other operation of the epoch would, and the calls
 *    that flush or close the epoch cover it. If no open epoch covers the target, the operation
 *    needs none: it starts at once and ignores locks. MPI_Win_flush, MPI_Win_flush_local, their
 *    _all forms and their nonblocking forms (ORIEL_Win_iflush, ...) then cover it. In both cases
 *    the origin's buffers may be reused after a flush_local, or after the call that closes the
 *    epoch. The target is notified without any flush.
 *  - Order. Notifications of one origin to one target on one window arrive in the order in which
 *    the operations were issued, with two exceptions. Notifications of operations that the network
 *    carries out by itself (long transfers, and accumulates on a window with
 *    mpi_assert_accumulate_intrinsic) may arrive after those of later operations. An operation that
 *    has to wait for its epoch, its lock or the target's exposure counts as issued when it is
 *    carried out.
 *  - No notification is lost. The target keeps notifications that no request has taken, in the
 *    order of arrival, without limit. The target takes them in every call that waits or tests, in
 *    the MPI library's progress engine, and in its other RMA calls if it has active requests or
 *    origins wait for space. Notifications for which there is no space wait at their origins; on a
 *    node the data is stored nevertheless. Operations do not block for lack of space; a flush, or a
 *    call that closes the epoch, blocks until the notifications have been delivered.
 *  - A notified operation on MPI_PROC_NULL does nothing. An operation of no elements only notifies.
 *  - Errors are raised through the window's error handler, with the error classes of the operation,
 *    and MPI_ERR_TAG if the tag is negative. After an error no data has moved and no notification
 *    is sent. An operation that fails after its call has returned sends no notification.
 */
#ifndef ORIEL_NOTIFY_H
#define ORIEL_NOTIFY_H

#include <mpi.h>

/** The largest tag of a notification; the smallest is 0. */
#define ORIEL_NOTIFY_TAG_UB 0x7fffffff

#ifdef __cplusplus
extern "C" {
#endif

/** MPI_Put that notifies its target. */
int ORIEL_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Win win, int tag);
/** MPI_Get that notifies its target that the memory read may be overwritten. */
int ORIEL_Get_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Win win, int tag);
/** MPI_Accumulate that notifies its target. */
int ORIEL_Accumulate_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                            int target_rank, MPI_Aint target_disp, int target_count,
                            MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);
/** MPI_Get_accumulate that notifies its target. */
int ORIEL_Get_accumulate_notify(const void* origin_addr, int origin_count,
                                MPI_Datatype origin_datatype, void* result_addr, int result_count,
                                MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                                int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                MPI_Win win, int tag);
/** MPI_Fetch_and_op that notifies its target. */
int ORIEL_Fetch_and_op_notify(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                              int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win,
                              int tag);
/** MPI_Compare_and_swap that notifies its target, also if the comparison fails. */
int ORIEL_Compare_and_swap_notify(const void* origin_addr, const void* compare_addr,
                                  void* result_addr, MPI_Datatype datatype, int target_rank,
                                  MPI_Aint target_disp, MPI_Win win, int tag);

/* The notified operations with large counts. */

int ORIEL_Put_notify_c(const void* origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, int tag);
int ORIEL_Get_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Win win, int tag);
int ORIEL_Accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                              MPI_Win win, int tag);
int ORIEL_Get_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                                  MPI_Datatype origin_datatype, void* result_addr,
                                  MPI_Count result_count, MPI_Datatype result_datatype,
                                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);

/* Request-based forms. The request completes as that of MPI_Rput, MPI_Rget, ...: the origin's
 * buffers may be reused and results have arrived. It does not mean that the notification has
 * arrived. Permitted in a lock or lock_all epoch that covers the target, or where no epoch covers
 * it; otherwise MPI_ERR_RMA_SYNC. */

int ORIEL_Rput_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Rget_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Raccumulate_notify(const void* origin_addr, int origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                             int tag, MPI_Request* request);
int ORIEL_Rget_accumulate_notify(const void* origin_addr, int origin_count,
                                 MPI_Datatype origin_datatype, void* result_addr, int result_count,
                                 MPI_Datatype result_datatype, int target_rank,
                                 MPI_Aint target_disp, int target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag,
                                 MPI_Request* request);
int ORIEL_Rput_notify_c(const void* origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, int tag,
                        MPI_Request* request);
int ORIEL_Rget_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                        int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Raccumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                               MPI_Win win, int tag, MPI_Request* request);
int ORIEL_Rget_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                                   MPI_Datatype origin_datatype, void* result_addr,
                                   MPI_Count result_count, MPI_Datatype result_datatype,
                                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag,
                                   MPI_Request* request);

/**
 * Creates a persistent request that completes after `expected_count` notifications on `win` from
 * rank `source` of its group (or MPI_ANY_SOURCE) with tag `tag` (or MPI_ANY_TAG).
 *
 * Local; does not block. The request is inactive until MPI_Start or MPI_Startall. Then it takes
 * matching notifications: first the oldest ones that no request has taken, then those that arrive.
 * If several active requests match a notification, the one that was started first takes it. The
 * request may be passed to all MPI_Wait and MPI_Test calls and to MPI_Request_get_status, in arrays
 * together with requests of the MPI library. It exists until MPI_Request_free. A request that is
 * freed while it is active takes no further notifications. MPI_Cancel is not supported.
 *
 * The status describes the last notification taken: MPI_SOURCE, MPI_TAG, and, by MPI_Get_count and
 * MPI_Get_elements, the size of its operation in bytes of the target's memory. With an
 * expected_count of 0 the request completes when it is started, with an empty status.
 *
 * A wait fails with MPI_ERR_OTHER if a process has ended whose notification the request may be
 * waiting for. It fails with MPI_ERR_REQUEST if the window has been freed; the request can then
 * only be freed. Starting an active request is MPI_ERR_REQUEST.
 *
 * Errors: MPI_ERR_WIN, MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERR_COUNT. Source: section III-B.
 */
int ORIEL_Notify_init(MPI_Win win, int source, int tag, int expected_count, MPI_Request* request);

/**
 * Creates a request that completes when one notified operation with the tag `id` (or MPI_ANY_TAG),
 * from any rank, has taken effect on the caller's part of `win`. It is like a request of
 * ORIEL_Notify_init with MPI_ANY_SOURCE and a count of 1 that has been started, but not persistent.
 *
 * Local; does not block. The request is active at once. It competes with the requests of
 * ORIEL_Notify_init: it takes the oldest matching notification that no request has taken, or one
 * that arrives later, and of several active requests the one that was started first takes it. The
 * wait or test that completes it sets it to MPI_REQUEST_NULL; the status is as for
 * ORIEL_Notify_init. A request that is freed takes no notification. MPI_Cancel is not supported,
 * and MPI_Start of the request is MPI_ERR_REQUEST.
 *
 * A wait fails with MPI_ERR_OTHER if a process of the window has ended, and with MPI_ERR_REQUEST if
 * the window has been freed. In both cases it sets the request to MPI_REQUEST_NULL.
 *
 * Errors: MPI_ERR_WIN, MPI_ERR_TAG (`id` is negative). Source: "Quo Vadis MPI RMA? Towards a More
 * Efficient Use of MPI One-Sided Communication", section 5.1.
 */
int ORIEL_Win_wait_notify(MPI_Win win, int id, MPI_Request* request);

/** Waits until there is a matching notification that no request has taken, and describes the oldest
 *  one in the status. The notification is not taken. Errors are those of ORIEL_Notify_init, and
 *  MPI_ERR_OTHER if a process has ended whose notification the call may be waiting for. `source`
 *  must not be MPI_PROC_NULL. Source: section III-B ("Probe semantics"). */
int ORIEL_Notify_probe(MPI_Win win, int source, int tag, MPI_Status* status);
/** As ORIEL_Notify_probe, but does not wait: *flag = 1 if there is such a notification, else 0. */
int ORIEL_Notify_iprobe(MPI_Win win, int source, int tag, int* flag, MPI_Status* status);

#ifdef __cplusplus
}
#endif

#endif
