/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file notified_access_names.h
 * The calls of oriel/notify.h under the names of the paper "Notified Access: Extending Remote
 * Memory Access Programming Models for Producer-Consumer Synchronization": MPI_Put_notify,
 * MPI_Get_notify and MPI_Notify_init as section III prints them, and the names of its library
 * foMPI-NA, whose prefix is foMPI_.
 *
 * The paper's section III
 *  - MPI_Put_notify, MPI_Get_notify and MPI_Notify_init have the arguments and the meaning of the
 *    ORIEL_ calls.
 *  - The paper leaves further operations and probes open ("can be added"). Oriel has them, but
 *    under its own names only.
 *  - The MPI Forum's draft (oriel/forum_notify.h) and Intel MPI (oriel/intel_notify.h) have
 *    MPI_Put_notify and MPI_Get_notify with an index before the window. Where handles are integers
 *    a compiler cannot distinguish the two. A file that includes this header with one of those, or
 *    with an mpi.h of MPI-5.1, therefore stops with an error, unless it defines
 *    ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY before this header is included. Then only the names with
 *    foMPI_ are defined.
 *
 * foMPI-NA
 *  - All calls and constants of its fompi.h, for windows and requests of MPI: foMPI_Win is MPI_Win,
 *    foMPI_Put is MPI_Put. A program includes this file instead of fompi.h.
 *  - foMPI_Rput_notify and foMPI_Rget_notify have the request before the tag, ORIEL_Rput_notify and
 *    ORIEL_Rget_notify after it.
 *  - As in foMPI-NA, an operation with the tag foMPI_ANY_TAG is the one without a notification.
 *  - foMPI_TAG_UB is Oriel's largest tag; it was 32767. Calls return MPI's error codes; foMPI's own
 *    (foMPI_ERROR_RMA_NO_SYNC, ...) are not defined. Window attributes are those of MPI.
 *  - foMPI_Init and foMPI_Finalize are MPI_Init and MPI_Finalize.
 */
#ifndef ORIEL_NOTIFIED_ACCESS_NAMES_H
#define ORIEL_NOTIFIED_ACCESS_NAMES_H

#include <oriel/oriel.h>

#ifndef ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY

#if defined(ORIEL_FORUM_NOTIFY_H) || defined(ORIEL_INTEL_NOTIFY_H) || MPI_VERSION > 5 || \
    (MPI_VERSION == 5 && MPI_SUBVERSION >= 1)
#error "MPI_Put_notify has other arguments here: define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY."
#endif
/* Checked by the headers that declare MPI_Put_notify with other arguments. */
#define ORIEL_NOTIFIED_ACCESS_MPI_NAMES

#ifdef __cplusplus
extern "C" {
#endif
int MPI_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, MPI_Win win, int tag);
int MPI_Get_notify(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                   int target_rank, MPI_Aint target_disp, int target_count,
                   MPI_Datatype target_datatype, MPI_Win win, int tag);
int MPI_Notify_init(MPI_Win win, int src_rank, int tag, int expected_count, MPI_Request* request);
#ifdef __cplusplus
}
#endif

#define MPI_Put_notify ORIEL_Put_notify
#define MPI_Get_notify ORIEL_Get_notify
#define MPI_Notify_init ORIEL_Notify_init

#endif

/* foMPI-NA's types and constants. */

#define foMPI_Win MPI_Win
#define foMPI_Request MPI_Request
#define foMPI_Op MPI_Op

#define foMPI_WIN_FLAVOR_CREATE MPI_WIN_FLAVOR_CREATE
#define foMPI_WIN_FLAVOR_ALLOCATE MPI_WIN_FLAVOR_ALLOCATE
#define foMPI_WIN_FLAVOR_DYNAMIC MPI_WIN_FLAVOR_DYNAMIC
#define foMPI_WIN_SEPARATE MPI_WIN_SEPARATE
#define foMPI_WIN_UNIFIED MPI_WIN_UNIFIED
#define foMPI_MODE_NOCHECK MPI_MODE_NOCHECK
#define foMPI_MODE_NOSTORE MPI_MODE_NOSTORE
#define foMPI_MODE_NOPUT MPI_MODE_NOPUT
#define foMPI_MODE_NOPRECEDE MPI_MODE_NOPRECEDE
#define foMPI_MODE_NOSUCCEED MPI_MODE_NOSUCCEED
#define foMPI_LOCK_SHARED MPI_LOCK_SHARED
#define foMPI_LOCK_EXCLUSIVE MPI_LOCK_EXCLUSIVE
#define foMPI_WIN_BASE MPI_WIN_BASE
#define foMPI_WIN_SIZE MPI_WIN_SIZE
#define foMPI_WIN_DISP_UNIT MPI_WIN_DISP_UNIT
#define foMPI_WIN_CREATE_FLAVOR MPI_WIN_CREATE_FLAVOR
#define foMPI_WIN_MODEL MPI_WIN_MODEL
#define foMPI_ANY_SOURCE MPI_ANY_SOURCE
#define foMPI_ANY_TAG MPI_ANY_TAG
#define foMPI_REQUEST_NULL MPI_REQUEST_NULL
#define foMPI_UNDEFINED MPI_UNDEFINED
#define foMPI_WIN_NULL MPI_WIN_NULL
#define foMPI_COMM_NULL MPI_COMM_NULL
#define foMPI_TAG_UB ORIEL_NOTIFY_TAG_UB

#define foMPI_SUM MPI_SUM
#define foMPI_PROD MPI_PROD
#define foMPI_MAX MPI_MAX
#define foMPI_MIN MPI_MIN
#define foMPI_LAND MPI_LAND
#define foMPI_LOR MPI_LOR
#define foMPI_LXOR MPI_LXOR
#define foMPI_BAND MPI_BAND
#define foMPI_BOR MPI_BOR
#define foMPI_BXOR MPI_BXOR
#define foMPI_MAXLOC MPI_MAXLOC
#define foMPI_MINLOC MPI_MINLOC
#define foMPI_REPLACE MPI_REPLACE
#define foMPI_NO_OP MPI_NO_OP

/* foMPI-NA's names of MPI's calls. */

#define foMPI_Win_create MPI_Win_create
#define foMPI_Win_allocate MPI_Win_allocate
#define foMPI_Win_create_dynamic MPI_Win_create_dynamic
#define foMPI_Win_free MPI_Win_free
#define foMPI_Win_attach MPI_Win_attach
#define foMPI_Win_detach MPI_Win_detach
#define foMPI_Win_fence MPI_Win_fence
#define foMPI_Win_start MPI_Win_start
#define foMPI_Win_complete MPI_Win_complete
#define foMPI_Win_post MPI_Win_post
#define foMPI_Win_wait MPI_Win_wait
#define foMPI_Win_test MPI_Win_test
#define foMPI_Win_lock MPI_Win_lock
#define foMPI_Win_unlock MPI_Win_unlock
#define foMPI_Win_lock_all MPI_Win_lock_all
#define foMPI_Win_unlock_all MPI_Win_unlock_all
#define foMPI_Win_flush MPI_Win_flush
#define foMPI_Win_flush_all MPI_Win_flush_all
#define foMPI_Win_flush_local MPI_Win_flush_local
#define foMPI_Win_flush_local_all MPI_Win_flush_local_all
#define foMPI_Win_sync MPI_Win_sync
#define foMPI_Put MPI_Put
#define foMPI_Get MPI_Get
#define foMPI_Accumulate MPI_Accumulate
#define foMPI_Get_accumulate MPI_Get_accumulate
#define foMPI_Fetch_and_op MPI_Fetch_and_op
#define foMPI_Compare_and_swap MPI_Compare_and_swap
#define foMPI_Rput MPI_Rput
#define foMPI_Rget MPI_Rget
#define foMPI_Raccumulate MPI_Raccumulate
#define foMPI_Rget_accumulate MPI_Rget_accumulate
#define foMPI_Win_get_group MPI_Win_get_group
#define foMPI_Win_set_name MPI_Win_set_name
#define foMPI_Win_get_name MPI_Win_get_name
#define foMPI_Win_create_keyval MPI_Win_create_keyval
#define foMPI_Win_free_keyval MPI_Win_free_keyval
#define foMPI_Win_set_attr MPI_Win_set_attr
#define foMPI_Win_get_attr MPI_Win_get_attr
#define foMPI_Win_delete_attr MPI_Win_delete_attr
#define foMPI_Init MPI_Init
#define foMPI_Finalize MPI_Finalize
#define foMPI_Alloc_mem MPI_Alloc_mem
#define foMPI_Wait MPI_Wait
#define foMPI_Test MPI_Test
#define foMPI_Waitany MPI_Waitany
#define foMPI_Testany MPI_Testany
#define foMPI_Testsome MPI_Testsome
#define foMPI_Waitsome MPI_Waitsome
#define foMPI_Request_free MPI_Request_free
#define foMPI_Start MPI_Start
#define foMPI_Type_free MPI_Type_free

/* foMPI-NA's notified calls. */

#define foMPI_Notify_init ORIEL_Notify_init

/** ORIEL_Put_notify; MPI_Put with the tag foMPI_ANY_TAG. */
static inline int foMPI_Put_notify(const void* origin_addr, int origin_count,
                                   MPI_Datatype origin_datatype, int target_rank,
                                   MPI_Aint target_disp, int target_count,
                                   MPI_Datatype target_datatype, MPI_Win win, int tag) {
  if (tag == MPI_ANY_TAG)
    return MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win);
  return ORIEL_Put_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                          target_count, target_datatype, win, tag);
}

/** ORIEL_Get_notify; MPI_Get with the tag foMPI_ANY_TAG. */
static inline int foMPI_Get_notify(void* origin_addr, int origin_count,
                                   MPI_Datatype origin_datatype, int target_rank,
                                   MPI_Aint target_disp, int target_count,
                                   MPI_Datatype target_datatype, MPI_Win win, int tag) {
  if (tag == MPI_ANY_TAG)
    return MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win);
  return ORIEL_Get_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                          target_count, target_datatype, win, tag);
}

/** ORIEL_Rput_notify; MPI_Rput with the tag foMPI_ANY_TAG. */
static inline int foMPI_Rput_notify(const void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request,
                                    int tag) {
  if (tag == MPI_ANY_TAG)
    return MPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win, request);
  return ORIEL_Rput_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, win, tag, request);
}

/** ORIEL_Rget_notify; MPI_Rget with the tag foMPI_ANY_TAG. */
static inline int foMPI_Rget_notify(void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request,
                                    int tag) {
  if (tag == MPI_ANY_TAG)
    return MPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win, request);
  return ORIEL_Rget_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, win, tag, request);
}

#endif
