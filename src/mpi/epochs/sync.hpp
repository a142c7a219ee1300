// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "mpi/host/errors.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

// Common parts of blocking and nonblocking synchronization calls.

/// A window made from a memory handle shares its parent's epochs; it may only flush them.
inline Failure check_epochs(const WindowHandle& window) {
  if (!window.view.has_value()) [[likely]]
    return {};
  return {MPI_ERR_RMA_SYNC,
          "a window made from a memory handle is locked and unlocked through its parent"};
}

/// Fails if a flush may not name the rank because of how the window was made.
inline Failure check_flushed(const WindowHandle& window, int rank) {
  if (!window.view.has_value() || may_flush(window, rank)) [[likely]]
    return {};
  return {MPI_ERR_RANK, "a window made from a memory handle has the handle's owner as its target"};
}

/// The threads whose operations a flush of the handle waits for (Q1).
inline ThreadSet flushed_threads(const WindowHandle& window) {
  return window.info.thread_scope.load() ? engine.this_thread() : all_threads;
}

/// A call that opens or closes an epoch.
template <typename Ours, typename Host>
int dispatch_epoch(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  return dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        const Failure bad = check_epochs(window);
        return bad ? bad : ours(window);
      },
      host);
}

inline constexpr int lock_asserts = MPI_MODE_NOCHECK | ORIEL_MODE_WEAK_UNLOCK;
inline constexpr int fence_asserts =
    MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

/// Translates the assertion. Fails if it has bits that are not `allowed`.
Failure translate_assert(int given, int allowed, Assert& assertion);

// Opening an epoch never waits (E2).
Failure open_post(WindowHandle& window, MPI_Group group, int assertion);
Failure open_start(WindowHandle& window, MPI_Group group, int assertion);
Failure open_lock(WindowHandle& window, int lock_type, int rank, int assertion);
Failure open_lock_all(WindowHandle& window, int assertion);

}  // namespace oriel::mpi
