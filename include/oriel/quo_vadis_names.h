/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file quo_vadis_names.h
 * The calls of oriel/windows.h and oriel/remote_completion.h, and ORIEL_Win_wait_notify, under the
 * names of the paper "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided
 * Communication".
 *
 *  - Section 2.3, Listing 3: MPI_Win_op_intrinsic.
 *  - Section 3, Listing 4: MPIX_Win_dup_with_info.
 *  - Section 4.2, Listing 5: MPIX_Memhandle_create, MPIX_Win_from_memhandle, MPIX_Memhandle_release
 *    and MPI_MAX_MEMORY_HANDLE_SIZE. The text of the section calls the constant
 *    MPI_MAX_MEMHANDLE_SIZE.
 *  - Section 5.1: MPI_Win_wait_notify, which returns a request.
 *  - Section 5.2: MPI_Rrput, MPI_Rraccumulate, MPI_Rrget_accumulate. The paper says that they have
 *    the arguments of MPI_Rput, MPI_Raccumulate and MPI_Rget_accumulate. Their forms with large
 *    counts (_c) are Oriel's addition.
 *
 * Arguments and meaning are those of the ORIEL_ calls. The paper has MPI_ for some calls and MPIX_
 * for others, and Figure 6 has MPI_ where Listing 5 has MPIX_; this file defines both for all calls
 * but one: MPIX_Win_wait_notify is a call of an earlier proposal that blocks, so only
 * MPI_Win_wait_notify is defined. The info keys mpi_win_scope, mpi_win_order and
 * mpi_assert_accumulate_intrinsic need no header.
 *
 * See oriel/nonblocking_epochs_names.h for the case that the mpi.h in use declares a name as well.
 */
#ifndef ORIEL_QUO_VADIS_NAMES_H
#define ORIEL_QUO_VADIS_NAMES_H

#include <oriel/oriel.h>

#ifdef __cplusplus
extern "C" {
#endif

int MPI_Win_dup_with_info(MPI_Win parentwin, MPI_Info info, MPI_Win* newwin);
int MPI_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parentwin,
                         void* memhandle, int* memhandle_size);
int MPI_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                           int target, MPI_Win parentwin, MPI_Win* newwin);
int MPI_Memhandle_release(void* memhandle, MPI_Win parentwin);
int MPI_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
                         int* flag);
int MPI_Rrput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request* request);
int MPI_Rraccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
int MPI_Rrget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void* result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                         MPI_Request* request);
int MPI_Rrput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int MPI_Rraccumulate_c(const void* origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request* request);
int MPI_Rrget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request* request);
int MPI_Win_wait_notify(MPI_Win win, int notify_id, MPI_Request* request);

int MPIX_Win_dup_with_info(MPI_Win parentwin, MPI_Info info, MPI_Win* newwin);
int MPIX_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parentwin,
                          void* memhandle, int* memhandle_size);
int MPIX_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                            int target, MPI_Win parentwin, MPI_Win* newwin);
int MPIX_Memhandle_release(void* memhandle, MPI_Win parentwin);
int MPIX_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
                          int* flag);
int MPIX_Rrput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, int target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int MPIX_Rraccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
int MPIX_Rrget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                          void* result_addr, int result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, int target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                          MPI_Request* request);
int MPIX_Rrput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                 MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request);
int MPIX_Rraccumulate_c(const void* origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                        MPI_Win win, MPI_Request* request);
int MPIX_Rrget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                            MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                            MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                            MPI_Win win, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#define MPI_MAX_MEMORY_HANDLE_SIZE ORIEL_MAX_MEMHANDLE_SIZE
#define MPI_MAX_MEMHANDLE_SIZE ORIEL_MAX_MEMHANDLE_SIZE

#define MPI_Win_dup_with_info ORIEL_Win_dup_with_info
#define MPI_Memhandle_create ORIEL_Memhandle_create
#define MPI_Win_from_memhandle ORIEL_Win_from_memhandle
#define MPI_Memhandle_release ORIEL_Memhandle_release
#define MPI_Win_op_intrinsic ORIEL_Win_op_intrinsic
#define MPI_Rrput ORIEL_Rrput
#define MPI_Rraccumulate ORIEL_Rraccumulate
#define MPI_Rrget_accumulate ORIEL_Rrget_accumulate
#define MPI_Rrput_c ORIEL_Rrput_c
#define MPI_Rraccumulate_c ORIEL_Rraccumulate_c
#define MPI_Rrget_accumulate_c ORIEL_Rrget_accumulate_c
#define MPI_Win_wait_notify ORIEL_Win_wait_notify

#define MPIX_Win_dup_with_info ORIEL_Win_dup_with_info
#define MPIX_Memhandle_create ORIEL_Memhandle_create
#define MPIX_Win_from_memhandle ORIEL_Win_from_memhandle
#define MPIX_Memhandle_release ORIEL_Memhandle_release
#define MPIX_Win_op_intrinsic ORIEL_Win_op_intrinsic
#define MPIX_Rrput ORIEL_Rrput
#define MPIX_Rraccumulate ORIEL_Rraccumulate
#define MPIX_Rrget_accumulate ORIEL_Rrget_accumulate
#define MPIX_Rrput_c ORIEL_Rrput_c
#define MPIX_Rraccumulate_c ORIEL_Rraccumulate_c
#define MPIX_Rrget_accumulate_c ORIEL_Rrget_accumulate_c

#endif
