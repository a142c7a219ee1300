/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file oriel.h
 * Nonblocking forms of all MPI calls that open, close or flush an RMA epoch.
 *
 * Source: "Nonblocking epochs in MPI one-sided communication", sections V and VI.
 *
 * Rules common to all calls
 *  - The last argument is an ordinary MPI request. It may be passed to all MPI_Wait and MPI_Test
 *    calls, to MPI_Request_free and to MPI_Request_get_status, also in arrays together with
 *    requests of the MPI library.
 *  - No call blocks. The request of an opening call is complete when the call returns.
 *  - A program may mix blocking and nonblocking calls within one epoch.
 *  - If one of these calls closes an epoch, the buffers of its operations must not be reused before
 *    the request of that call has completed.
 *  - Any number of epochs may be pending on a window. An epoch starts when all epochs that the
 *    program closed before it opened this one have completed, in the order of opening, unless the
 *    window's reorder keys permit more (ORIEL_ACCESS_AFTER_ACCESS_REORDER and the three keys after
 *    it). Epochs that the program has open at the same time do not wait for one another, but their
 *    locks are requested in the order of their opening, over all windows.
 *  - Errors are raised through the window's error handler with the MPI standard's error classes:
 *    MPI_ERR_WIN, MPI_ERR_RMA_SYNC, MPI_ERR_RANK, MPI_ERR_LOCKTYPE, MPI_ERR_ASSERT, MPI_ERR_GROUP.
 *    After an error nothing has been started, and *request is unchanged.
 *  - An operation that fails after its call has returned is reported once: by the first flush of
 *    its target that covers it, otherwise by the call that closes its epoch, or by the request of
 *    that flush or call. If the operation has a request, the request reports the failure as well.
 *  - The window must be one that Oriel implements. On a window of the MPI library each call fails
 *    with MPI_ERR_WIN.
 *
 * Every ORIEL_ function also exists as PORIEL_, for tools, with the same meaning; oriel/profiling.h
 * declares these names.
 */
#ifndef ORIEL_ORIEL_H
#define ORIEL_ORIEL_H

#include <mpi.h>
#include <oriel/collectives.h>
#include <oriel/notify.h>
#include <oriel/notify_counters.h>
#include <oriel/remote_completion.h>
#include <oriel/windows.h>

/* The pkg-config packages oriel-mpich, oriel-openmpi and oriel-abi define one of these. */
#if (defined(ORIEL_FOR_ABI_MPICH) && !defined(MPICH_VERSION)) || \
    (defined(ORIEL_FOR_ABI_OPENMPI) && !defined(OPEN_MPI)) ||    \
    (defined(ORIEL_FOR_ABI_ABI) && (defined(MPICH_VERSION) || defined(OPEN_MPI)))
#error "mpi.h is not of this package's MPI: take oriel-mpich (also Intel MPI), -openmpi or -abi"
#endif

#define ORIEL_VERSION_MAJOR 0
#define ORIEL_VERSION_MINOR 2
#define ORIEL_VERSION_PATCH 0

/**
 * Info keys of a window (value "1" or "true"; default "0"). ORIEL_<A>_AFTER_<B>_REORDER permits
 * Oriel to start an epoch of kind A while an earlier epoch of kind B, which the program has closed,
 * is not complete. ACCESS means start, lock and lock_all epochs, EXPOSURE means post epochs. The
 * program promises that epochs which are in progress at the same time access disjoint memory. A
 * fence epoch counts as both kinds: a post epoch may start before a fence epoch is complete if both
 * EXPOSURE_AFTER keys are set; no other epoch overlaps with a fence epoch. Any number of epochs may
 * be in progress. Limits: lock and lock_all epochs of one rank use the lock of one target one after
 * the other; an origin reports the end of an access epoch to a target at most 20 epochs ahead of an
 * earlier one to that target whose operations are not complete.
 *
 * MPI_Win_set_info may change the keys at any time. The new keys also apply to epochs that wait,
 * except for lock epochs that wait only for an earlier epoch to the same target.
 *
 * Each key has two names: the paper's, and the paper's abbreviation (A_A_A_R, A_A_E_R, E_A_E_R,
 * E_A_A_R). Oriel understands both, if the MPI library's info objects accept them: Open MPI refuses
 * three of the paper's names, which are longer than its keys may be. MPI_Win_get_info reports a key
 * by the paper's name, or by the abbreviation if that name is too long. The macros below are the
 * reported names; a program that uses them works on every MPI library. Source: section VI-B.
 */
#if MPI_MAX_INFO_KEY > 35
#define ORIEL_ACCESS_AFTER_ACCESS_REORDER "MPI_WIN_ACCESS_AFTER_ACCESS_REORDER"
#else
#define ORIEL_ACCESS_AFTER_ACCESS_REORDER "A_A_A_R"
#endif
#if MPI_MAX_INFO_KEY > 39
#define ORIEL_ACCESS_AFTER_EXPOSURE_REORDER "MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER"
#define ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER "MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER"
#define ORIEL_EXPOSURE_AFTER_ACCESS_REORDER "MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER"
#else
#define ORIEL_ACCESS_AFTER_EXPOSURE_REORDER "A_A_E_R"
#define ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER "E_A_E_R"
#define ORIEL_EXPOSURE_AFTER_ACCESS_REORDER "E_A_A_R"
#endif

/**
 * A weaker unlock. MPI_Win_unlock and MPI_Win_unlock_all return when the origin's buffers may be
 * reused and fetched data has arrived. They do not wait until puts and accumulates are complete at
 * the target. These are complete when one of the following returns: a flush or a usual unlock of a
 * later epoch of the same origin to the same target, or MPI_Win_free. The unlock of that later
 * epoch reports an error that they cause at the target. Until then Oriel may hold back short
 * operations, to send several in one packet: for some hundred calls, or until the progress agent
 * runs (within some twenty ORIEL_AGENT_INTERVALs). Operations of one origin to one target still
 * take effect in the order of their epochs. Those of lock epochs to different targets may not.
 *
 * The info key (value "true"; default "false"; MPI_Win_set_info may change it) selects the weaker
 * unlock for all epochs that are opened afterwards. The assertion selects it for one epoch of
 * MPI_Win_lock, MPI_Win_lock_all or their nonblocking forms. Without Oriel, an MPI library refuses
 * the assertion and ignores the key.
 *
 * Source: "Minimizing synchronization overhead in the implementation of MPI one-sided
 * communication", section 7.
 */
#define ORIEL_WEAK_UNLOCK "oriel_weak_unlock"
#define ORIEL_MODE_WEAK_UNLOCK (1 << 24)

/**
 * Info key: which call waits until operations may access a target, if the target's memory is mapped
 * (ORIEL_PATHS) and a blocking call has opened the epoch. MPI leaves this open, and MPI libraries
 * wait in the opening call.
 *
 * With the value "result", the default, MPI_Get, MPI_Get_accumulate, MPI_Fetch_and_op and
 * MPI_Compare_and_swap in an epoch of MPI_Win_lock wait for the lock of their target, so that the
 * result is there when they return. All other operations, those with a request and those in an
 * epoch of MPI_Win_lock_all included, are recorded while the lock is not held. With "completion",
 * only calls that complete operations wait: flushes, and calls that close the epoch. With
 * "opening", MPI_Win_lock, MPI_Win_lock_all, MPI_Win_start and MPI_Win_fence wait, so that no
 * operation is recorded.
 *
 * An epoch that was opened by a nonblocking call (ORIEL_Win_ilock and the like) makes no operation
 * wait. Nor does "result" while another such epoch, or a nonblocking closing call, must end before
 * the lock is requested. MPI_Win_set_info may change the key. The setting ORIEL_AWAIT_ACCESS is the
 * value for windows that are made without the key.
 */
#define ORIEL_AWAIT_ACCESS "oriel_await_access"

/**
 * Info key that MPI_Win_get_info reports, as text for people: how the calling rank accesses each
 * rank of the window, for example "ranks 0 to 3 mapped, ranks 4 to 7 over tcp". The text is cut to
 * the length of an info value. Setting the key has no effect.
 */
#define ORIEL_PATHS "oriel_paths"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the version of the library in use. The ORIEL_VERSION_ macros are that of the header. */
int ORIEL_Get_version(int* major, int* minor, int* patch);

/** Nonblocking MPI_Win_post: opens an exposure epoch to `group`. */
int ORIEL_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
/** Nonblocking MPI_Win_start: opens an access epoch to `group`. */
int ORIEL_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
/** Closes the access epoch that MPI_Win_start or ORIEL_Win_istart has opened. The request completes
 *  when MPI_Win_complete would have returned. */
int ORIEL_Win_icomplete(MPI_Win win, MPI_Request* request);
/** Closes the exposure epoch. The request completes when every origin of its group has completed
 *  its matching access epoch. The program may open the next exposure epoch at once. */
int ORIEL_Win_iwait(MPI_Win win, MPI_Request* request);
/** Closes the fence epoch, if one is open, and opens the next one, as `assert` specifies. The
 *  request completes when the operations of the closed epoch are complete and all ranks have made
 *  the call. With MPI_MODE_NOPRECEDE it is complete at once. Where no fence epoch can be open (the
 *  first fence of a window, or the one after MPI_MODE_NOSUCCEED), it may be complete at once, while
 *  MPI_Win_fence would wait for all ranks. Collective over the window's group. */
int ORIEL_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
/** Opens a lock epoch to `rank`. The lock is requested when the epoch starts (see the rules above).
 *  The request is complete although the lock may not be held yet; operations wait for the lock. A
 *  program that loads or stores the locked memory without a call must use MPI_Win_lock, which
 *  returns when that lock is held. */
int ORIEL_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
/** Opens a shared-lock epoch to all ranks of the window. The call requests the locks of memory that
 *  the program can load and store directly. Each other lock is requested at the first operation to
 *  its rank. */
int ORIEL_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
/** Closes the lock epoch to `rank`. The request completes when all operations of the epoch are
 *  complete at origin and target and the lock is released. */
int ORIEL_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
/** Closes the lock_all epoch. The request completes like that of ORIEL_Win_iunlock, for all ranks.
 */
int ORIEL_Win_iunlock_all(MPI_Win win, MPI_Request* request);
/** Nonblocking MPI_Win_flush. The request completes when two kinds of operations to `rank` are
 *  complete at origin and target: those issued before this call in the open epoch, and those that
 *  weaker unlocks (ORIEL_WEAK_UNLOCK) have left incomplete. It does not cover operations issued
 *  later (paper, section VII-C), nor those of epochs whose closing request is pending: that request
 *  covers them. */
int ORIEL_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush, but for completion at the origin: the buffers may be reused. */
int ORIEL_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush, for operations to all ranks, or to all locked ranks. */
int ORIEL_Win_iflush_all(MPI_Win win, MPI_Request* request);
/** As ORIEL_Win_iflush_local, for operations to all ranks, or to all locked ranks. */
int ORIEL_Win_iflush_local_all(MPI_Win win, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
