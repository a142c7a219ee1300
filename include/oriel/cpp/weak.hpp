// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file weak.hpp
 * For programs that are not linked with Oriel and use it if it is preloaded. oriel.hpp includes
 * this file if ORIEL_WEAK is defined, which it must be in all files of the program. The ORIEL_
 * functions are then weak symbols: the program links and starts without Oriel. It must not call
 * these functions if available() is false. The program must be position-independent code, as
 * compilers generate it by default; otherwise available() is false.
 */
#pragma once

#include <oriel/oriel.h>

#pragma weak ORIEL_Accumulate_notify
#pragma weak ORIEL_Accumulate_notify_c
#pragma weak ORIEL_Accumulate_notify_counter
#pragma weak ORIEL_Accumulate_notify_counter_c
#pragma weak ORIEL_Allgatherv_init
#pragma weak ORIEL_Allgatherv_init_c
#pragma weak ORIEL_Alltoall_init
#pragma weak ORIEL_Alltoall_init_c
#pragma weak ORIEL_Alltoallv_init
#pragma weak ORIEL_Alltoallv_init_c
#pragma weak ORIEL_Alltoallw_init
#pragma weak ORIEL_Alltoallw_init_c
#pragma weak ORIEL_Bcast_init
#pragma weak ORIEL_Bcast_init_c
#pragma weak ORIEL_Compare_and_swap_notify
#pragma weak ORIEL_Err_rma_notification
#pragma weak ORIEL_Fetch_and_op_notify
#pragma weak ORIEL_Get_accumulate_notify
#pragma weak ORIEL_Get_accumulate_notify_c
#pragma weak ORIEL_Get_accumulate_notify_counter
#pragma weak ORIEL_Get_accumulate_notify_counter_c
#pragma weak ORIEL_Get_notify
#pragma weak ORIEL_Get_notify_c
#pragma weak ORIEL_Get_notify_counter
#pragma weak ORIEL_Get_notify_counter_c
#pragma weak ORIEL_Get_version
#pragma weak ORIEL_Memhandle_create
#pragma weak ORIEL_Memhandle_release
#pragma weak ORIEL_Neighbor_alltoallv_init
#pragma weak ORIEL_Neighbor_alltoallv_init_c
#pragma weak ORIEL_Notify_init
#pragma weak ORIEL_Notify_iprobe
#pragma weak ORIEL_Notify_probe
#pragma weak ORIEL_Put_notify
#pragma weak ORIEL_Put_notify_c
#pragma weak ORIEL_Put_notify_counter
#pragma weak ORIEL_Put_notify_counter_c
#pragma weak ORIEL_Raccumulate_notify
#pragma weak ORIEL_Raccumulate_notify_c
#pragma weak ORIEL_Raccumulate_notify_counter
#pragma weak ORIEL_Raccumulate_notify_counter_c
#pragma weak ORIEL_Reduce_init
#pragma weak ORIEL_Reduce_init_c
#pragma weak ORIEL_Rget_accumulate_notify
#pragma weak ORIEL_Rget_accumulate_notify_c
#pragma weak ORIEL_Rget_accumulate_notify_counter
#pragma weak ORIEL_Rget_accumulate_notify_counter_c
#pragma weak ORIEL_Rget_notify
#pragma weak ORIEL_Rget_notify_c
#pragma weak ORIEL_Rget_notify_counter
#pragma weak ORIEL_Rget_notify_counter_c
#pragma weak ORIEL_Rput_notify
#pragma weak ORIEL_Rput_notify_c
#pragma weak ORIEL_Rput_notify_counter
#pragma weak ORIEL_Rput_notify_counter_c
#pragma weak ORIEL_Rraccumulate
#pragma weak ORIEL_Rraccumulate_c
#pragma weak ORIEL_Rrget_accumulate
#pragma weak ORIEL_Rrget_accumulate_c
#pragma weak ORIEL_Rrput
#pragma weak ORIEL_Rrput_c
#pragma weak ORIEL_Win_dup_with_info
#pragma weak ORIEL_Win_from_memhandle
#pragma weak ORIEL_Win_get_notify_request
#pragma weak ORIEL_Win_get_notify_value
#pragma weak ORIEL_Win_get_num_notify
#pragma weak ORIEL_Win_icomplete
#pragma weak ORIEL_Win_ifence
#pragma weak ORIEL_Win_iflush
#pragma weak ORIEL_Win_iflush_all
#pragma weak ORIEL_Win_iflush_local
#pragma weak ORIEL_Win_iflush_local_all
#pragma weak ORIEL_Win_ilock
#pragma weak ORIEL_Win_ilock_all
#pragma weak ORIEL_Win_ipost
#pragma weak ORIEL_Win_istart
#pragma weak ORIEL_Win_iunlock
#pragma weak ORIEL_Win_iunlock_all
#pragma weak ORIEL_Win_iwait
#pragma weak ORIEL_Win_op_intrinsic
#pragma weak ORIEL_Win_reset_notify_value
#pragma weak ORIEL_Win_set_notify_value
#pragma weak ORIEL_Win_set_num_notify
#pragma weak ORIEL_Win_wait_notify

namespace oriel {

/** True if the process has the ORIEL_ functions. Local; may be called before MPI_Init. */
inline bool available() noexcept {
  return &ORIEL_Get_version != nullptr;
}

}  // namespace oriel
