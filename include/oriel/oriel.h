/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file oriel.h
 * What MPI does not have: the nonblocking twin of every call that opens, closes or flushes an RMA
 * epoch.
 *
 * Source: "Nonblocking epochs in MPI one-sided communication", sections V and VI.
 *
 * Rules common to all calls
 *  - The last argument is an ordinary MPI request. It works in the whole MPI_Wait and MPI_Test
 *    families, in MPI_Request_free and in MPI_Request_get_status, also in arrays mixed with
 * requests of the MPI library itself.
 *  - No call here blocks. An opening call's request is complete when the call returns.
 *  - Blocking and nonblocking calls mix freely within one epoch.
 *  - Buffers of operations in an epoch that was closed by one of these calls may be reused when its
 *    request has completed, not before.
 *  - Any number of epochs may be pending on a window. They are carried out in the order in which
 *    they were opened, each after the one before it, unless the window's reorder keys allow more
 *    (ORIEL_ACCESS_AFTER_ACCESS_REORDER and its siblings below).
 *  - Errors are raised through the window's error handler with the MPI standard's error classes:
 *    MPI_ERR_WIN, MPI_ERR_RMA_SYNC, MPI_ERR_RANK, MPI_ERR_LOCKTYPE, MPI_ERR_ASSERT, MPI_ERR_GROUP.
 *    After an error nothing was started and *request is untouched.
 *  - An operation that fails after its call has returned is reported once: by the first flush of
 *    its target that covers it, or else by the call that closes its epoch, or by their requests.
 *  - The window must be one that Oriel carries; on any other one a call here fails with
 * MPI_ERR_WIN.
 *
 * Every ORIEL_ function has a PORIEL_ twin for tools, with the same meaning.
 */
#ifndef ORIEL_ORIEL_H
#define ORIEL_ORIEL_H

#include <mpi.h>
#include <oriel/collectives.h>
#include <oriel/notify.h>
#include <oriel/notify_counters.h>
#include <oriel/remote_completion.h>
#include <oriel/windows.h>

#define ORIEL_VERSION_MAJOR 0
#define ORIEL_VERSION_MINOR 1
#define ORIEL_VERSION_PATCH 0

/**
 * Info keys of a window (value "1" or "true"; default "0"): the engine may start an epoch while the
 * one before it, already closed, is still in progress. The program promises that epochs which run
 * at the same time touch disjoint memory. The keys have no effect next to a fence or lock_all
 * epoch. Source: section VI-B.
 */
#if MPI_MAX_INFO_KEY > 41
#define ORIEL_ACCESS_AFTER_ACCESS_REORDER "MPI_WIN_ACCESS_AFTER_ACCESS_REORDER"
#define ORIEL_ACCESS_AFTER_EXPOSURE_REORDER "MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER"
#define ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER "MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER"
#define ORIEL_EXPOSURE_AFTER_ACCESS_REORDER "MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER"
#else
/* Open MPI's info keys are too short for the paper's names: its abbreviations, known on every host.
 */
#define ORIEL_ACCESS_AFTER_ACCESS_REORDER "A_A_A_R"
#define ORIEL_ACCESS_AFTER_EXPOSURE_REORDER "A_A_E_R"
#define ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER "E_A_E_R"
#define ORIEL_EXPOSURE_AFTER_ACCESS_REORDER "E_A_A_R"
#endif

/**
 * A weaker unlock: MPI_Win_unlock and MPI_Win_unlock_all return when the origin's buffers may be
 * reused and fetched data is there, and do not wait until puts and accumulates are complete at the
 * target. They are by the time that a flush or a usual unlock of a later epoch of the same origin
 * to the same target returns, or MPI_Win_free; an error that they meet at the target is told by the
 * unlock of that later epoch. Until then short operations may wait here for more to travel with:
 * for some hundred calls, or until the agent looks in (within some twenty ORIEL_AGENT_INTERVALs).
 * Operations of one origin to one target still take effect in the order of their epochs; those of
 * lock epochs to different targets may not.
 *
 * Asked for by info key (value "true"; default "false"; may change by MPI_Win_set_info) for all
 * epochs that are opened afterwards, or as an assertion of MPI_Win_lock, MPI_Win_lock_all and their
 * nonblocking twins for one epoch. An MPI without Oriel refuses the assertion, and ignores the key.
 *
 * Source: "Minimizing synchronization overhead in the implementation of MPI one-sided
 * communication", section 7.
 */
#define ORIEL_WEAK_UNLOCK "oriel_weak_unlock"
#define ORIEL_MODE_WEAK_UNLOCK (1 << 24)

/**
 * Info key that MPI_Win_get_info reports and nobody sets, for people to read: which way operations
 * take from the calling rank to each rank of the window, for example "ranks 0 to 3 mapped, ranks 4
 * to 7 over tcp"; as much of it as an info value holds.
 */
#define ORIEL_PATHS "oriel_paths"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library in use, as opposed to the ORIEL_VERSION_ macros of the header. */
int ORIEL_Get_version(int* major, int* minor, int* patch);

/** MPI_Win_post that returns a request: opens an exposure epoch to `group`. */
int ORIEL_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
/** MPI_Win_start that never waits: opens an access epoch to `group`. */
int ORIEL_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
/** Closes the access epoch opened last by start. The request completes when MPI_Win_complete would
 *  have returned. */
int ORIEL_Win_icomplete(MPI_Win win, MPI_Request* request);
/** Closes the exposure epoch. The request completes when every origin of its group has completed
 * its matching access epoch; the next exposure epoch may be opened at once. */
int ORIEL_Win_iwait(MPI_Win win, MPI_Request* request);
/** Closes the fence epoch, if one is open, and opens the next, as `assert` tells. The request
 *  completes when MPI_Win_fence would have returned; where nothing is closed it is complete at
 * once. Collective over the window's group. */
int ORIEL_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
/** Opens a lock epoch to `rank`. The lock is requested at once. */
int ORIEL_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
/** Opens a shared-lock epoch to all ranks of the window. The locks of the memory that the program
 *  can load and store without a call are requested at once, others at the first operation. */
int ORIEL_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
/** Closes the lock epoch to `rank`. The request completes when all its operations are complete at
 *  origin and target and the lock is released. */
int ORIEL_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
/** Closes the lock_all epoch. The request completes as that of ORIEL_Win_iunlock, for all ranks. */
int ORIEL_Win_iunlock_all(MPI_Win win, MPI_Request* request);
/** The request completes when all operations to `rank` issued before this call in the open epoch,
 *  and what completed weaker unlocks have left (ORIEL_WEAK_UNLOCK), are complete at origin and
 *  target. Operations issued later are not covered (paper, section VII-C), nor are those of epochs
 *  whose closing request is pending: that request tells of them. */
int ORIEL_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush, at the origin only: the buffers may be reused. */
int ORIEL_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush, for operations to all ranks, or to all that are locked. */
int ORIEL_Win_iflush_all(MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush_local, for operations to all ranks, or to all that are locked. */
int ORIEL_Win_iflush_local_all(MPI_Win win, MPI_Request* request);

int PORIEL_Get_version(int* major, int* minor, int* patch);
int PORIEL_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int PORIEL_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int PORIEL_Win_icomplete(MPI_Win win, MPI_Request* request);
int PORIEL_Win_iwait(MPI_Win win, MPI_Request* request);
int PORIEL_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
int PORIEL_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
int PORIEL_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
int PORIEL_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
int PORIEL_Win_iunlock_all(MPI_Win win, MPI_Request* request);
int PORIEL_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
int PORIEL_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
int PORIEL_Win_iflush_all(MPI_Win win, MPI_Request* request);
int PORIEL_Win_iflush_local_all(MPI_Win win, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
