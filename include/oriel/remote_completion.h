/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file remote_completion.h
 * Request-based operations whose request tells of completion at the target, too: no flush is needed
 * before the target is told that its data is there. Included by oriel.h.
 *
 * Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication",
 * section 5.2.
 *
 * Each call is MPI's request-based operation of the same name (counts in elements of the datatypes,
 * displacements in the target's displacement units), with one difference: its request completes
 * when the operation is complete at the target as well as at the origin. Whoever is told of that
 * afterwards, by a message for example, finds the data in the target's window.
 *
 *  - No call blocks. On memory that is mapped the request is complete at creation, unless the epoch
 *    is not active yet or the lock is not held; elsewhere it takes the target's answer, which does
 *    not wait for operations to other targets, nor for operations issued later.
 *  - Only in lock and lock_all epochs, as MPI_Rput: else MPI_ERR_RMA_SYNC. The other errors are
 *    those of MPI_Rput and its siblings, raised through the window's error handler; then nothing
 *    was started and *request is untouched. On a window that Oriel does not carry: MPI_ERR_WIN.
 *  - The request of an operation that fails after its call has returned fails with the error's
 *    class; that of one whose target has ended with MPI_ERR_OTHER. As of MPI_Rput, a later flush,
 *    or what closes the epoch, reports the failure besides.
 *  - With MPI_PROC_NULL the request is complete at creation.
 *  - The request works in the whole MPI_Wait and MPI_Test families, in arrays mixed with requests
 *    of the MPI library. What MPI forbids with the requests of MPI_Rput (MPI_Request_free,
 *    MPI_Cancel) is forbidden here.
 *
 * Get has no such call: when its result is here, nothing is left to do at the target.
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
/** MPI_Rget_accumulate whose request completes when the old values are here and the update has
 *  been made at the target. */
int ORIEL_Rrget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                           void* result_addr, int result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, int target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                           MPI_Request* request);

/* The same with large counts. */

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

/* The same under the names that tools call. */

int PORIEL_Rrput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, int target_count,
                 MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int PORIEL_Rraccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
int PORIEL_Rrget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                            void* result_addr, int result_count, MPI_Datatype result_datatype,
                            int target_rank, MPI_Aint target_disp, int target_count,
                            MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                            MPI_Request* request);
int PORIEL_Rrput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                   MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int PORIEL_Rraccumulate_c(const void* origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request* request);
int PORIEL_Rrget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                              MPI_Datatype origin_datatype, void* result_addr,
                              MPI_Count result_count, MPI_Datatype result_datatype, int target_rank,
                              MPI_Aint target_disp, MPI_Count target_count,
                              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                              MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
