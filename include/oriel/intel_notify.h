/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file intel_notify.h
 * Intel MPI's calls for notification counters, on every MPI library. Oriel exports them under
 * Intel's names, so a program that was built with Intel MPI's headers uses Oriel's. With the
 * headers of another MPI library a program includes this file. Each call is documented by the name
 * of the call of oriel/notify_counters.h that has the same meaning.
 *
 * Source: Intel MPI Library Developer Guide, "Notified One-Sided Communications"; the prototypes of
 * mpi.h of releases 2021.18 and 2021.19. On a window that Oriel does not implement, the calls go to
 * Intel MPI; with other MPI libraries they fail with MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * The guides of 2021.13 and 2021.14 have the window before the index in MPIX_Put_notify and
 * MPIX_Get_notify. Where handles are integers (the MPICH ABI, to which Intel MPI belongs) both
 * orders work, because no index has the value of a window's handle.
 *
 * Tools find the PMPIX_ and PMPI_ names of these calls in oriel/intel_profiling.h.
 *
 * A source file includes either this header or oriel/notified_access_names.h, where MPI_Put_notify
 * and MPI_Get_notify have other arguments. It may include both if it defines
 * ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY.
 *
 * Atos's Open MPI has calls of its own under some of these names, with other arguments. Programs
 * that use those calls cannot run with Oriel.
 */
#ifndef ORIEL_INTEL_NOTIFY_H
#define ORIEL_INTEL_NOTIFY_H

#include <mpi.h>

#ifdef ORIEL_NOTIFIED_ACCESS_MPI_NAMES
#error "With oriel/notified_access_names.h, define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Since 2021.13. */

/** ORIEL_Win_set_num_notify without an info object. Collective. */
int MPIX_Win_create_notify(MPI_Win win, int notification_num);
/** ORIEL_Win_set_num_notify with the number 0. Collective. */
int MPIX_Win_free_notify(MPI_Win win);
/** ORIEL_Win_get_notify_value. */
int MPIX_Win_get_notify(MPI_Win win, int notification_idx, MPI_Count* notification);
/** ORIEL_Win_set_notify_value. */
int MPIX_Win_set_notify(MPI_Win win, int notification_idx, MPI_Count notification);
/** ORIEL_Win_get_notify_request. */
int MPIX_Win_get_notify_request(MPI_Win win, int notification_idx, MPI_Count expected_value,
                                MPI_Request* request);
/** ORIEL_Put_notify_counter. */
int MPIX_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Put_notify_counter_c. */
int MPIX_Put_notify_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Get_notify_counter. */
int MPIX_Get_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Get_notify_counter_c. */
int MPIX_Get_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, int notification_idx, MPI_Win win);

/* Later names of the same calls; the operations have the Forum's names. */

/** ORIEL_Win_set_num_notify. Collective. */
int MPI_Win_notify_attach(MPI_Win win, int notification_num, MPI_Info info);
/** ORIEL_Win_set_num_notify, by its name in the newest releases. Collective. */
int MPI_Win_notify_set_num(MPI_Win win, MPI_Info info, int notification_num);
/** ORIEL_Win_set_num_notify with the number 0. Collective. */
int MPI_Win_notify_detach(MPI_Win win);
/** ORIEL_Win_get_notify_value. */
int MPI_Win_notify_get_value(MPI_Win win, int notification_idx, MPI_Count* value);
/** ORIEL_Win_set_notify_value. */
int MPI_Win_notify_set_value(MPI_Win win, int notification_idx, MPI_Count value);
/** ORIEL_Put_notify_counter. */
int MPI_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Put_notify_counter_c. */
int MPI_Put_notify_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                     MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Get_notify_counter. */
int MPI_Get_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
/** ORIEL_Get_notify_counter_c. */
int MPI_Get_notify_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                     MPI_Datatype target_datatype, int notification_idx, MPI_Win win);

#ifdef __cplusplus
}
#endif

#endif
