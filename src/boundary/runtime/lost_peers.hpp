// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// The failure to report if a member of the window that is waited for has died, none otherwise.
Failure look_for_lost_peers(const WindowState& window);
/// Likewise if any member has: for steps that all of them take.
Failure look_for_any_lost(const WindowState& window);
/// The failure of a call that waits for this rank, which has ended.
Failure lost_rank(const WindowState& window, int rank);

/// One look at each source, for all requests that wait for it: it takes system calls, for any
/// source those of every rank.
class LostSources {
 public:
  /// The rank, or for -1 any, that has ended; -1: none. With the process lock.
  int of(const WindowState& window, int source);
  /// Whether what the dead had published has come, and may be what was waited for; else another
  /// look is to be taken later. Sweeps, the first time: not with the lock of requests.
  bool all_heard();

 private:
  bool swept_ = false;
  std::map<std::pair<const WindowState*, int>, int> known_;
};

}  // namespace oriel::boundary
