/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file forum_notify.h
 * The calls of oriel/notify_counters.h under the names of the MPI Forum's draft. A program that
 * uses these names compiles unchanged with an MPI library that has the calls: this file defines
 * nothing then.
 *
 * The names are those of the draft in October 2026. Its attributes have two spellings: that of the
 * first implementations (MPI_WIN_NOTIFICATION_NUM_SB, ...) and that of the Forum's minutes
 * (MPI_WIN_NOTIFY_NUMSB, ...). Both are defined here. The published texts do not agree on the name
 * of the request that completes at a threshold; use ORIEL_Win_get_notify_request.
 *
 * A source file includes either this header or oriel/notified_access_names.h, where MPI_Put_notify
 * and MPI_Get_notify have other arguments. It may include both if it defines
 * ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY.
 */
#ifndef ORIEL_FORUM_NOTIFY_H
#define ORIEL_FORUM_NOTIFY_H

#include <oriel/oriel.h>

#ifdef ORIEL_NOTIFIED_ACCESS_MPI_NAMES
#error "With oriel/notified_access_names.h, define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY."
#endif

/* An MPI library that declares the attributes as enumerators is recognized by its version. */
#if !defined(MPI_WIN_NOTIFICATION_NUM_SB) && \
    (MPI_VERSION < 5 || (MPI_VERSION == 5 && MPI_SUBVERSION < 1))

#define MPI_WIN_NOTIFICATION_NUM_SB ORIEL_WIN_NOTIFICATION_NUM_SB
#define MPI_WIN_NOTIFICATION_NUM_UB ORIEL_WIN_NOTIFICATION_NUM_UB
#define MPI_WIN_NOTIFICATION_VALUE_UB ORIEL_WIN_NOTIFICATION_VALUE_UB
#define MPI_WIN_NOTIFY_NUMSB ORIEL_WIN_NOTIFICATION_NUM_SB
#define MPI_WIN_NOTIFY_NUMUB ORIEL_WIN_NOTIFICATION_NUM_UB
#define MPI_WIN_NOTIFY_VALUE_UB ORIEL_WIN_NOTIFICATION_VALUE_UB
#define MPI_ERR_RMA_NOTIFICATION ORIEL_ERR_RMA_NOTIFICATION

#define MPI_Win_set_num_notify ORIEL_Win_set_num_notify
#define MPI_Win_get_num_notify ORIEL_Win_get_num_notify
#define MPI_Win_get_notify_value ORIEL_Win_get_notify_value
#define MPI_Win_reset_notify_value ORIEL_Win_reset_notify_value
#define MPI_Put_notify ORIEL_Put_notify_counter
#define MPI_Get_notify ORIEL_Get_notify_counter
#define MPI_Accumulate_notify ORIEL_Accumulate_notify_counter
#define MPI_Get_accumulate_notify ORIEL_Get_accumulate_notify_counter
#define MPI_Put_notify_c ORIEL_Put_notify_counter_c
#define MPI_Get_notify_c ORIEL_Get_notify_counter_c
#define MPI_Accumulate_notify_c ORIEL_Accumulate_notify_counter_c
#define MPI_Get_accumulate_notify_c ORIEL_Get_accumulate_notify_counter_c
#define MPI_Rput_notify ORIEL_Rput_notify_counter
#define MPI_Rget_notify ORIEL_Rget_notify_counter
#define MPI_Raccumulate_notify ORIEL_Raccumulate_notify_counter
#define MPI_Rget_accumulate_notify ORIEL_Rget_accumulate_notify_counter
#define MPI_Rput_notify_c ORIEL_Rput_notify_counter_c
#define MPI_Rget_notify_c ORIEL_Rget_notify_counter_c
#define MPI_Raccumulate_notify_c ORIEL_Raccumulate_notify_counter_c
#define MPI_Rget_accumulate_notify_c ORIEL_Rget_accumulate_notify_counter_c

#endif

#endif
