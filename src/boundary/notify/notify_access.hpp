// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/operations/operations.hpp"

namespace oriel::boundary {

// Operations with a notification to their target, by whatever names: each is the operation of the
// same kind with one more argument.

inline Access tagged(Access access, int tag) {
  access.notify_arg = {NotifyKind::tag, tag, 0};
  return access;
}
inline Access counted(Access access, int index) {
  access.notify_arg = {NotifyKind::counter, index, 0};
  return access;
}

/// A put of one contiguous type to mapped memory. False: the general path is to be taken.
inline bool try_put_notified(const WindowHandle& window, const Access& access) {
  const NotifyArg& notify_arg = access.notify_arg;
  std::size_t bytes;
  if (access.kind != OperationKind::put || !valid_rank(window, access.rank) ||
      !one_run(access.origin.address, access.origin.count, access.origin.type, access.target_count,
               access.target_type, bytes)) {
    return false;
  }
  const bool valid =
      notify_arg.kind == NotifyKind::tag
          ? notify_arg.number >= 0
          : window.core->notifications().counters().has(access.rank, notify_arg.number);
  return valid && window.core->put_notified(access.rank, access.displacement, access.origin.address,
                                            bytes, notify_arg);
}

template <typename Host>
inline int dispatch_notified(const char* call, MPI_Win handle, const Access& access, Host&& host) {
  return dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        return try_put_notified(window, access) ? Failure() : issue(window, access);
      },
      host);
}

}  // namespace oriel::boundary
