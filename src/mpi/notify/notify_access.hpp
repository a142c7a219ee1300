// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mpi/operations/operations.hpp"

namespace oriel::mpi {

// Operations that notify their target, for each spelling of their names: the operation of the same
// kind, with a NotifyArg.

inline Access tagged(Access access, int tag) {
  access.notify_arg = {NotifyKind::tag, tag, 0};
  return access;
}
inline Access counted(Access access, int index) {
  access.notify_arg = {NotifyKind::counter, index, 0};
  return access;
}

/// A put of one contiguous type to mapped memory or to a remote rank. Returns false if the
/// operation must take the general path. With the process lock.
inline bool try_put_notified(const WindowHandle& window, const Access& access) {
  const NotifyArg& notify_arg = access.notify_arg;
  std::size_t bytes;
  if (access.kind != OperationKind::put || !valid_rank(window, access.target.rank) ||
      !one_run(access.origin.address, access.origin.count, access.origin.type, access.target.count,
               access.target.type, bytes)) {
    return false;
  }
  const bool valid =
      notify_arg.kind == NotifyKind::tag
          ? notify_arg.number >= 0
          : window.core->notifications().counters().has(access.target.rank, notify_arg.number);
  if (!valid) return false;
  if (window.core->remote(access.target.rank)) {
    return issue_run(window, true, access.target.rank, access.target.displacement,
                     access.origin.address, bytes, notify_arg);
  }
  return window.core->put_notified(access.target.rank, access.target.displacement,
                                   access.origin.address, bytes, notify_arg);
}

/// A notified operation, if hot paths are closed or the window is not Oriel's.
template <typename Host>
[[gnu::noinline]] int dispatch_notified_reported(const char* call, MPI_Win handle,
                                                 const Access& access, const Host& host) {
  return dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        const auto hot_path = [&](const WindowHandle&) { return try_put_notified(window, access); };
        return carry_out_reported(window, access, hot_path) ? Failure() : issue(window, access);
      },
      host);
}

template <typename Host>
[[gnu::always_inline]] inline int dispatch_notified(const char* call, MPI_Win handle,
                                                    const Access& access, Host&& host) {
  return dispatch_found(
      call, handle, [](std::uint64_t key) { return runtime.windows.find_if_open(key); },
      [&](WindowHandle& window) {
        return try_put_notified(window, access) ? Failure() : issue(window, access);
      },
      [&] { return dispatch_notified_reported(call, handle, access, host); });
}

}  // namespace oriel::mpi
