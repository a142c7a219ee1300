/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file windows.h
 * Windows with several configurations, and memory that is exposed without a collective call:
 * duplicates and memory handles. What a program may ask of a window that MPI does not tell.
 *
 * Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication",
 * sections 2.3, 3 and 4.
 *
 * All calls here are local: none waits for another process, but for a thread of this one that frees
 * a window, whose delete callbacks should not wait for others. Errors are raised through the error
 * handler of the window that is given, and nothing has been made then. On a window of the host MPI
 * each fails with MPI_ERR_WIN.
 *
 * Every ORIEL_ function has a PORIEL_ twin for tools, with the same meaning.
 */
#ifndef ORIEL_WINDOWS_H
#define ORIEL_WINDOWS_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Info key of a window (value "true"; default "false"; may change by MPI_Win_set_info, and be
 * another one for a duplicate): operations that are issued on this handle to one target complete
 * there in the order in which they were issued, without a flush between them; puts, gets and
 * accumulates of any size, by whichever thread. A put may so be followed by the flag that tells of
 * it. Operations on other handles of the window are not ordered with them. Notified operations
 * outside any epoch are ordered among themselves, not with those of epochs that have been closed
 * and are not yet complete. Long puts and gets to other nodes lose their direct transfers, and what
 * fetches from mapped memory costs a memory fence.
 *
 * MPI_Win_get_info tells whether the key is in effect: not where the network's atomics carry out
 * accumulates (mpi_assert_accumulate_intrinsic between nodes), which keep an order of their own.
 *
 * Source: section 2.2.
 */
#define ORIEL_WIN_ORDER "mpi_win_order"

/**
 * Info key of a window (value "process", the default, or "thread"; may change by MPI_Win_set_info,
 * and be another one for a duplicate): whose operations MPI_Win_flush on this handle waits for.
 * With "thread" those that the calling thread has issued to the target, on whichever handle of the
 * window; other threads' operations may still be under way when it returns. The call may wait for
 * more where operations are not told apart: where the target's lock is not held yet, where the
 * thread has direct transfers under way, on dynamic windows between nodes, beside notified
 * operations and weak unlocks, and in threads beyond the 64th. MPI_Win_flush_local and the flushes
 * of all targets have process scope.
 *
 * Source: section 2.1.
 */
#define ORIEL_WIN_SCOPE "mpi_win_scope"

/**
 * Makes another handle of the window `parent`, which may be a duplicate itself, and returns it in
 * `win`. Parent, duplicates and their duplicates are one window: the same memory, the same epochs
 * (what one of them locks, all have locked; a flush of one covers operations of all), the same
 * notifications. Of its own a duplicate has its info, name, user attributes and error handler (at
 * first the parent's).
 *
 * Info keys: those of the parent, and those in `info` instead. What belongs to the memory or to the
 * synchronization that all share keeps its value (no_locks, the reorder keys, what was said when
 * the window was made, such as mpi_assert_accumulate_intrinsic: so accumulates are atomic across
 * all duplicates); MPI_Win_get_info tells what holds.
 *
 * MPI_Win_free of one of several handles that this process has is local and needs no epoch to be
 * closed; handles may be freed in any order. That of the last one is collective, as MPI has it.
 *
 * Source: section 3, Listing 4. Errors: MPI_ERR_WIN, MPI_ERR_OTHER (the host MPI has no more
 * windows).
 */
int ORIEL_Win_dup_with_info(MPI_Win parent, MPI_Info info, MPI_Win* win);

/** Bytes of a memory handle, at most. */
#define ORIEL_MAX_MEMHANDLE_SIZE 128

/**
 * Exposes `size` bytes at `base` (any memory of this process, attached to a window or not) to the
 * processes of the dynamic window `parent` until ORIEL_Memhandle_release, and writes what names it
 * to `memhandle`, which has room for ORIEL_MAX_MEMHANDLE_SIZE bytes; `memhandle_size` tells how
 * many are used. They may be sent to other processes as MPI_BYTE. No info key is known so far.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR (the window is not
 * dynamic), MPI_ERR_SIZE, MPI_ERR_RMA_ATTACH (no room to note it), MPI_ERR_ARG.
 */
int ORIEL_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parent,
                           void* memhandle, int* memhandle_size);

/**
 * Makes a window `win` of the memory behind a handle that rank `target` of `parent` has made on
 * this same window: its first `size` bytes, counted in units of `disp_unit` bytes. `target` is the
 * only rank that operations on `win` may name. Puts, gets and accumulates (and their forms with
 * requests) and flushes are permitted on it, within a lock or lock_all epoch of the parent; a flush
 * of one covers operations of both. Everything that opens or closes an epoch is MPI_ERR_RMA_SYNC,
 * notified access MPI_ERR_RMA_FLAVOR. MPI_Win_free of it is local, and comes before that of the
 * parent.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR, MPI_ERR_RANK,
 * MPI_ERR_DISP, MPI_ERR_SIZE (more than the handle's), MPI_ERR_ARG (the bytes are not a handle of
 * that rank on this window, or it has been released).
 */
int ORIEL_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                             int target, MPI_Win parent, MPI_Win* win);

/**
 * Ends the exposure. `memhandle` holds what ORIEL_Memhandle_create of this process has written, on
 * this window. Operations on windows made from it are MPI_ERR_RMA_RANGE from now on, and store
 * nothing; the program makes sure that none is still under way. The memory may be freed then.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR, MPI_ERR_ARG (not such a
 * handle, or released already).
 */
int ORIEL_Memhandle_release(void* memhandle, MPI_Win parent);

/**
 * Tells whether accumulates with each of `ops`, on up to `max_count` elements in a row of the
 * predefined datatype `type`, are carried out on every rank's part of `win` by hardware atomics of
 * the calling process: those of its processor on memory that is mapped, or those of the network
 * (info key mpi_assert_accumulate_intrinsic). Then *flag is 1: no processor of the target takes
 * part, and no lock is taken (a process that updates a rank's memory alone may do without atomics
 * until a second one comes). Else 0: some would be left to the target, or exclude all others, as an
 * accumulate on several elements does unless mpi_accumulate_granularity (not above the size of an
 * element) or mpi_assert_accumulate_intrinsic permits to update each element by itself.
 *
 * `ops`: words apart by commas, without spaces; the second half of the name of a predefined MPI_Op
 * in lower case (sum, prod, min, max, land, lor, lxor, band, bor, bxor, minloc, maxloc, no_op),
 * replace, and cas for MPI_Compare_and_swap, which has one element whatever max_count says. An op
 * that MPI does not have on the datatype makes *flag 0, and so does a derived datatype.
 *
 * Local; does not block. The answer holds as long as the window lives, for elements that are
 * aligned to their size at the target. It may differ from rank to rank of the window. Where it is
 * 1, and the program issues no other accumulates, it may say so by the info key
 * mpi_assert_accumulate_intrinsic (Open MPI's acc_single_intrinsic), the same on all ranks, for
 * its next window. MPI_Win_get_info then tells whether the assertion is in effect: all ranks have
 * made it, and each reaches the memory of all by such atomics, of the network for some datatype
 * (asking by it is what brings the network's atomics into use) or of the processors.
 *
 * Errors, through the window's error handler: MPI_ERR_ARG (a word is none of these), MPI_ERR_COUNT
 * (max_count is negative), MPI_ERR_TYPE, MPI_ERR_WIN (a window that Oriel does not carry).
 * Source: section 2.3.
 */
int ORIEL_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
                           int* flag);

/* The same under the names that tools call. */

int PORIEL_Win_dup_with_info(MPI_Win parent, MPI_Info info, MPI_Win* win);
int PORIEL_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parent,
                            void* memhandle, int* memhandle_size);
int PORIEL_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                              int target, MPI_Win parent, MPI_Win* win);
int PORIEL_Memhandle_release(void* memhandle, MPI_Win parent);
int PORIEL_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
                            int* flag);

#ifdef __cplusplus
}
#endif

#endif
