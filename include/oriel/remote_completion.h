/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file remote_completion.h
 * Request-based operations whose request completes when the operation is complete at the target as
 * well. No flush is needed before the origin informs the target, for example by a message, that the
 * data has arrived. Included by oriel.h.
 *
 * Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication",
 * section 5.2.
 *
 * Each call is MPI's request-based operation of the same name (counts in elements of the datatypes,
 * displacements in the target's displacement units), with one difference: its request completes
 * when the operation is complete at the target as well as at the origin. A process that receives a
 * message sent after that finds the data in the target's window.
 *
 *  - No call blocks. If the target is on the same node and Oriel does not reach it by messages
 *    (ORIEL_PATHS), the request is complete when the call returns, unless the epoch is not active
 *    yet or the lock is not held. Otherwise the request completes when the target or the network
 *    has confirmed the operation. That does not depend on operations to other targets or on
 *    operations issued later.
 *  - The calls are permitted in lock and lock_all epochs only, as MPI_Rput; otherwise
 *    MPI_ERR_RMA_SYNC. The other errors are those of MPI_Rput, MPI_Raccumulate and
 *    MPI_Rget_accumulate, raised through the window's error handler. After an error nothing has
 *    been started, and *request is unchanged. On a window that Oriel does not implement:
 *    MPI_ERR_WIN.
 *  - If an operation fails after its call has returned, its request fails with the error's class,
 *    or with MPI_ERR_OTHER if the target has ended. As with MPI_Rput, a later flush or the call
 *    that closes the epoch also reports the failure.
 *  - With MPI_PROC_NULL the request is complete when the call returns.
 *  - The request may be passed to all MPI_Wait and MPI_Test calls, in arrays together with requests
 *    of the MPI library. MPI_Request_free and MPI_Cancel are forbidden, as MPI forbids them for the
 *    requests of MPI_Rput.
 *
 * There is no such call for get: when its result has arrived, nothing is left to do at the target.
 */
#ifndef ORIEL_REMOTE_COMPLETION_H
#define ORIEL_REMOTE_COMPLETION_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** MPI_Rput whose request completes when the data is in the target's memory. */
int ORIEL_Rrput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, int target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
/** MPI_Raccumulate whose request completes when the update has been made at the target. */
int ORIEL_Rraccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
/** MPI_Rget_accumulate whose request completes when the old values have arrived and the update has
 *  been made at the target. */
int ORIEL_Rrget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                           void* result_addr, int result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, int target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                           MPI_Request* request);

/* The three operations with large counts. */

int ORIEL_Rrput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                  MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int ORIEL_Rraccumulate_c(const void* origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win, MPI_Request* request);
int ORIEL_Rrget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                             MPI_Datatype origin_datatype, void* result_addr,
                             MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                             MPI_Aint target_disp, MPI_Count target_count,
                             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                             MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
