/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file windows.h
 * Duplicates (several handles of one window, each with its own info), memory handles (memory
 * exposed without a collective call), and a query for hardware atomics. Included by oriel.h.
 *
 * Source: "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication",
 * sections 2.3, 3 and 4.
 *
 * All calls are local: none waits for another process. A call may wait for a thread of this process
 * that frees a window, so delete callbacks of attributes should not wait for other processes.
 * Errors are raised through the error handler of the given window; the call then has had no effect.
 * On a window of the MPI library each call fails with MPI_ERR_WIN.
 *
 * Every ORIEL_ function also exists as PORIEL_, for tools, with the same meaning; oriel/profiling.h
 * declares these names.
 */
#ifndef ORIEL_WINDOWS_H
#define ORIEL_WINDOWS_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Info key of a window (value "true"; default "false"; MPI_Win_set_info may change it, and a
 * duplicate may have another value). Operations that are issued on this handle to one target
 * complete there in the order in which they were issued, without a flush between them. That holds
 * for puts, gets and accumulates of any size, by any thread. A program may, for example, put data
 * and then put a flag that announces it. Operations on other handles of the window are not ordered
 * with them. Notified operations outside any epoch are ordered among themselves, but not with
 * operations of epochs that have been closed and are not complete. Cost: long puts and gets to
 * other nodes are not direct transfers, and an operation that fetches from memory of the same node
 * takes a memory fence.
 *
 * The network's atomics (mpi_assert_accumulate_intrinsic between nodes) have an order of their own.
 * A window that is made with this key on any rank does not use them: the order is kept, and
 * MPI_Win_get_info reports the other key as not in effect. A window that uses them already, and its
 * duplicates, cannot be ordered later. MPI_Win_get_info says whether the key is in effect.
 *
 * Source: section 2.2.
 */
#define ORIEL_WIN_ORDER "mpi_win_order"

/**
 * Info key of a window (value "process", the default, or "thread"; MPI_Win_set_info may change it,
 * and a duplicate may have another value). It selects the operations for which the flushes on this
 * handle wait: MPI_Win_flush, MPI_Win_flush_all, their local forms, and the nonblocking forms of
 * oriel.h. With "thread" a flush waits for the operations that the calling thread has issued to the
 * flushed targets, on any handle of the window. Operations of other threads may still be incomplete
 * when it returns. A flush waits for more if Oriel does not distinguish threads: while the target's
 * lock is not held yet, while the thread has incomplete direct transfers, on dynamic windows
 * between nodes, and beside notified operations and weak unlocks. A local flush also waits for more
 * while any thread waits for fetched data from the target. The 64th thread of a process and all
 * later ones count as one: a flush by any of them also waits for the operations of the others. On a
 * dynamic window with ranks of other nodes MPI_Win_get_info reports "process".
 *
 * Source: section 2.1.
 */
#define ORIEL_WIN_SCOPE "mpi_win_scope"

/**
 * Creates another handle of the window `parent`, which may be a duplicate itself, and returns it in
 * `win`. Parent, duplicates and their duplicates are one window: they share the memory, the epochs
 * (a lock through one handle holds for all, a flush of one covers operations on all) and the
 * notifications. A duplicate has its own info, name, user attributes and error handler (initially
 * the parent's).
 *
 * A duplicate has the info keys of the parent, except for those that `info` gives another value.
 * Keys that belong to the shared memory or synchronization keep their value: no_locks, the reorder
 * keys, and keys that took effect when the window was created, such as accumulate_ops. Each element
 * that accumulates through different handles update is updated by one after the other (see
 * ORIEL_Win_op_intrinsic). MPI_Win_get_info reports the values in effect.
 *
 * As long as this process has another handle of the window, MPI_Win_free is local and may be called
 * while epochs are open. Handles may be freed in any order. MPI_Win_free of the last handle is
 * collective, as in MPI.
 *
 * Source: section 3, Listing 4. Errors: MPI_ERR_WIN, MPI_ERR_OTHER (the program has
 * 131,072 windows).
 */
int ORIEL_Win_dup_with_info(MPI_Win parent, MPI_Info info, MPI_Win* win);

/** Maximum size of a memory handle, in bytes. */
#define ORIEL_MAX_MEMHANDLE_SIZE 128

/**
 * Exposes `size` bytes at `base` to the processes of the dynamic window `parent`, until
 * ORIEL_Memhandle_release. Any memory of this process may be exposed, attached to a window or not.
 * The call writes a memory handle to `memhandle`, a buffer of ORIEL_MAX_MEMHANDLE_SIZE bytes, and
 * the number of bytes used to `memhandle_size`. The program may send these bytes to other processes
 * as MPI_BYTE. `info` is ignored.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR (the window is not
 * dynamic), MPI_ERR_SIZE, MPI_ERR_RMA_ATTACH (there is no space for another handle), MPI_ERR_ARG.
 */
int ORIEL_Memhandle_create(void* base, MPI_Aint size, MPI_Info info, MPI_Win parent,
                           void* memhandle, int* memhandle_size);

/**
 * Creates a window `win` on the first `size` bytes of memory that rank `target` has exposed by
 * `memhandle` on the same window `parent`. Displacements are in units of `disp_unit` bytes.
 * `target` is the only rank that operations on `win` may name. Puts, gets, accumulates, their
 * request-based forms, and flushes are permitted on it within a lock or lock_all epoch of the
 * parent. A flush of either window covers operations on both. Calls that open or close an epoch are
 * MPI_ERR_RMA_SYNC, notified operations MPI_ERR_RMA_FLAVOR. MPI_Win_free of `win` is local, and
 * must be called before that of the parent.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR, MPI_ERR_RANK,
 * MPI_ERR_DISP, MPI_ERR_SIZE (larger than the exposed memory), MPI_ERR_ARG (the bytes are not a
 * handle of that rank on this window, or the handle has been released), MPI_ERR_OTHER (the program
 * has 131,072 windows).
 *
 * Local: the owner is not contacted. If the owner is reached by messages or over a network, as
 * ORIEL_PATHS of `parent` reports, a handle that has been released is therefore accepted.
 * Operations on `win` then store nothing and fail with MPI_ERR_RMA_RANGE, at the operation or at
 * the next flush.
 */
int ORIEL_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                             int target, MPI_Win parent, MPI_Win* win);

/**
 * Ends the exposure of memory. `memhandle` is a handle that this process has created by
 * ORIEL_Memhandle_create on this window. Later operations on windows created from it
 * fail with MPI_ERR_RMA_RANGE and store nothing. All earlier operations must be complete. After the
 * call the program may free the memory.
 *
 * Source: section 4.2, Listing 5. Errors: MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR, MPI_ERR_ARG (not such a
 * handle, or it has been released already).
 */
int ORIEL_Memhandle_release(void* memhandle, MPI_Win parent);

/**
 * Reports whether the calling process carries out certain accumulates on every rank's part of `win`
 * by hardware atomics: those with each of `ops`, on up to `max_count` contiguous elements of the
 * predefined datatype `type`. Hardware atomics are those of its processor on memory that it maps,
 * or those of the network (info key mpi_assert_accumulate_intrinsic).
 *  - *flag = 1: the target's processor takes no part, and no lock is taken. (A process that is the
 *    only one to update a rank's memory may use plain loads and stores until a second one does.)
 *  - *flag = 0: at least one of the accumulates needs the target's processor, or excludes all other
 *    accumulates while it runs. An accumulate on several elements excludes all others, unless
 *    mpi_accumulate_granularity (not above the size of an element) or
 *    mpi_assert_accumulate_intrinsic permits updating each element by itself.
 *
 * `ops` is a list of words, separated by commas, without spaces. A word is the second half of the
 * name of a predefined MPI_Op in lower case (sum, prod, min, max, land, lor, lxor, band, bor, bxor,
 * minloc, maxloc, no_op, replace), or cas for MPI_Compare_and_swap, which has one element whatever
 * max_count is. *flag is 0 for an op that MPI does not define on the datatype, and for a derived
 * datatype.
 *
 * Local; does not block. The result is valid until the keys above are changed on the handle, for
 * elements that are aligned to their size at the target. It may differ between ranks and between
 * handles. If it is 1 for one element, a program that issues no other accumulates may set the info
 * key mpi_assert_accumulate_intrinsic (Open MPI's acc_single_intrinsic): by MPI_Win_set_info on
 * this window; in the info of one duplicate and not of another; or for its next window on all
 * ranks, which enables the network's atomics. Accumulates through all handles are atomic with one
 * another for each element; those through handles without the key also as whole calls.
 * MPI_Win_get_info reports whether the key is in effect on a handle. With the processors' atomics
 * it is if it was requested and each rank maps the memory of all ranks; with the network's atomics
 * it always is.
 *
 * Errors, through the window's error handler: MPI_ERR_ARG (a word is none of these), MPI_ERR_COUNT
 * (max_count is negative), MPI_ERR_TYPE, MPI_ERR_WIN (a window that Oriel does not implement).
 * Source: section 2.3.
 */
int ORIEL_Win_op_intrinsic(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win,
                           int* flag);

#ifdef __cplusplus
}
#endif

#endif
