/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file notify.h
 * Notified access: the target of an RMA operation learns from the operation itself that it has
 * taken place. Included by oriel.h.
 *
 * Source: "Notified Access: Extending Remote Memory Access Programming Models for Producer-Consumer
 * Synchronization", section III.
 *
 * A notified operation is the operation of the same name, and a notification to its target with a
 * tag of the caller's choice:
 *  - A notified write is visible in the target's memory when its notification is, or else when
 *    what flushes or closes its epoch has returned. Before that it may not be there at all. The
 *    memory of a notified read may be overwritten when its notification arrives.
 *  - In an open epoch that covers the target (fence, start, lock, lock_all) the operation belongs
 *    to that epoch: it starts when any other operation of the epoch would, and what closes or
 *    flushes the epoch covers it. Where no such epoch is open it forms its own: it starts at once,
 *    ignores locks, and MPI_Win_flush, MPI_Win_flush_local, their _all forms and the calls of
 *    ORIEL_Win_iflush cover it. In every case the origin's buffers may be reused after a
 *    flush_local (or what closes the epoch), and nothing has to be flushed for the target to be
 *    notified.
 *  - Notifications of one origin to one target on one window arrive in the order in which the
 *    operations were issued, except that those of operations which the network carries out by
 *    itself (long transfers, and accumulates on a window with mpi_assert_accumulate_intrinsic) may
 *    arrive after those of later operations. Operations recorded for an epoch that is not active
 *    yet, or for a target that is not available, are issued then.
 *  - No notification is lost. Those that nobody has asked for are kept at the target, in order of
 *    arrival, without limit. Where more arrive than the target has room for before it looks (in any
 *    call that waits or tests, in the host's progress, and in its other RMA calls if it has active
 *    requests or others wait for room), the notifications wait at their origins; on a node their
 *    data does not. No operation blocks for that; a flush does, and a call that closes the epoch.
 *  - A notified operation of MPI_PROC_NULL does nothing. One of no elements notifies only.
 *  - Errors are raised through the window's error handler, with the classes of the operation;
 *    MPI_ERR_TAG: the tag is negative. After an error nothing was moved and nobody is notified. An
 *    operation that fails after its call has returned notifies nobody.
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
/** MPI_Get that notifies its target: what it has read may be overwritten there. */
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
/** MPI_Compare_and_swap that notifies its target, also if it swaps nothing. */
int ORIEL_Compare_and_swap_notify(const void* origin_addr, const void* compare_addr,
                                  void* result_addr, MPI_Datatype datatype, int target_rank,
                                  MPI_Aint target_disp, MPI_Win win, int tag);

/* The same with large counts. */

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

/* Request-based: the request tells what that of MPI_Rput and its siblings tells, that the origin's
 * buffers may be reused and results are there; it says nothing of the notification. In a lock or
 * lock_all epoch that covers the target, or with no epoch that does; else MPI_ERR_RMA_SYNC. */

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
 * Makes a persistent request that completes after `expected_count` notifications on `win` from rank
 * `source` of its group (or MPI_ANY_SOURCE) with tag `tag` (or MPI_ANY_TAG).
 *
 * Local; does not block. The request is inactive until MPI_Start or MPI_Startall; then it takes the
 * oldest notifications that match and that nobody has taken, and those to come. Where several
 * active requests match a notification, the one that was started first takes it. It works in the
 * whole MPI_Wait and MPI_Test families and in MPI_Request_get_status, in arrays mixed with the MPI
 * library's own requests, and stays, inactive, until MPI_Request_free. One that is freed while it
 * is active takes nothing any more. MPI_Cancel is not supported.
 *
 * The status tells of the last notification taken: MPI_SOURCE, MPI_TAG, and by MPI_Get_count and
 * MPI_Get_elements the size of its operation in bytes of the target's memory. With an
 * expected_count of 0 the request completes when it is started, with an empty status.
 *
 * A wait fails with MPI_ERR_OTHER when a process of the window has ended whose notification it may
 * be waiting for, and with MPI_ERR_REQUEST when the window has been freed: then it can only be
 * freed. Starting one that is active is MPI_ERR_REQUEST.
 *
 * Errors: MPI_ERR_WIN, MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERR_COUNT. Source: section III-B.
 */
int ORIEL_Notify_init(MPI_Win win, int source, int tag, int expected_count, MPI_Request* request);

/**
 * Makes a request that completes when one notified access with the tag `id` (or MPI_ANY_TAG), from
 * any rank, has been made to the caller's part of `win`: ORIEL_Notify_init of MPI_ANY_SOURCE and a
 * count of 1, started, and not persistent.
 *
 * Local; does not block. The request is active at once and matches as those of ORIEL_Notify_init
 * do, in competition with them: it takes the oldest notification that nobody has taken, or one to
 * come; of several active requests the one that was started first takes it. The wait or test that
 * tells of its end sets it to MPI_REQUEST_NULL; the status is that of ORIEL_Notify_init's requests.
 * One that is freed takes nothing any more. MPI_Cancel is not supported, and MPI_Start of it is
 * MPI_ERR_REQUEST.
 *
 * A wait fails, and sets the request to MPI_REQUEST_NULL, with MPI_ERR_OTHER when a process of the
 * window has ended, and with MPI_ERR_REQUEST when the window has been freed.
 *
 * Errors: MPI_ERR_WIN, MPI_ERR_TAG (`id` is negative). Source: "Quo Vadis MPI RMA? Towards a More
 * Efficient Use of MPI One-Sided Communication", section 5.1.
 */
int ORIEL_Win_wait_notify(MPI_Win win, int id, MPI_Request* request);

/** Waits until a notification is there that matches and that no active request takes, and tells of
 *  the oldest one in the status. It stays there. Errors as of ORIEL_Notify_init, and MPI_ERR_OTHER
 *  when a process has ended whose notification it may be waiting for; MPI_PROC_NULL is no source.
 *  Source: section III-B ("Probe semantics"). */
int ORIEL_Notify_probe(MPI_Win win, int source, int tag, MPI_Status* status);
/** As ORIEL_Notify_probe, but does not wait: *flag tells whether there is one. */
int ORIEL_Notify_iprobe(MPI_Win win, int source, int tag, int* flag, MPI_Status* status);

/* The same under the names that tools call. */

int PORIEL_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win, int tag);
int PORIEL_Get_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win, int tag);
int PORIEL_Accumulate_notify(const void* origin_addr, int origin_count,
                             MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                             int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                             int tag);
int PORIEL_Get_accumulate_notify(const void* origin_addr, int origin_count,
                                 MPI_Datatype origin_datatype, void* result_addr, int result_count,
                                 MPI_Datatype result_datatype, int target_rank,
                                 MPI_Aint target_disp, int target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);
int PORIEL_Fetch_and_op_notify(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                               int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win,
                               int tag);
int PORIEL_Compare_and_swap_notify(const void* origin_addr, const void* compare_addr,
                                   void* result_addr, MPI_Datatype datatype, int target_rank,
                                   MPI_Aint target_disp, MPI_Win win, int tag);
int PORIEL_Put_notify_c(const void* origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, int tag);
int PORIEL_Get_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                        int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_datatype, MPI_Win win, int tag);
int PORIEL_Accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                               MPI_Win win, int tag);
int PORIEL_Get_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                                   MPI_Datatype origin_datatype, void* result_addr,
                                   MPI_Count result_count, MPI_Datatype result_datatype,
                                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag);
int PORIEL_Rput_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int PORIEL_Rget_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int PORIEL_Raccumulate_notify(const void* origin_addr, int origin_count,
                              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                              int target_count, MPI_Datatype target_datatype, MPI_Op op,
                              MPI_Win win, int tag, MPI_Request* request);
int PORIEL_Rget_accumulate_notify(const void* origin_addr, int origin_count,
                                  MPI_Datatype origin_datatype, void* result_addr, int result_count,
                                  MPI_Datatype result_datatype, int target_rank,
                                  MPI_Aint target_disp, int target_count,
                                  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag,
                                  MPI_Request* request);
int PORIEL_Rput_notify_c(const void* origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, int tag,
                         MPI_Request* request);
int PORIEL_Rget_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                         MPI_Datatype target_datatype, MPI_Win win, int tag, MPI_Request* request);
int PORIEL_Raccumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                                MPI_Win win, int tag, MPI_Request* request);
int PORIEL_Rget_accumulate_notify_c(const void* origin_addr, MPI_Count origin_count,
                                    MPI_Datatype origin_datatype, void* result_addr,
                                    MPI_Count result_count, MPI_Datatype result_datatype,
                                    int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, int tag,
                                    MPI_Request* request);
int PORIEL_Notify_init(MPI_Win win, int source, int tag, int expected_count, MPI_Request* request);
int PORIEL_Win_wait_notify(MPI_Win win, int id, MPI_Request* request);
int PORIEL_Notify_probe(MPI_Win win, int source, int tag, MPI_Status* status);
int PORIEL_Notify_iprobe(MPI_Win win, int source, int tag, int* flag, MPI_Status* status);

#ifdef __cplusplus
}
#endif

#endif
