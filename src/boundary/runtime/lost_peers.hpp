// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// The failure to report if an awaited member of the window has ended; empty: none has.
Failure look_for_lost_peers(const WindowState& window);
/// The failure to report if any member has ended, for steps that all members take.
Failure look_for_any_lost(const WindowState& window);
/// The failure of a call that waits for `rank`, which has ended.
Failure lost_rank(const WindowState& window, int rank);

/// Caches the check of each source for all requests that wait for it: a check takes system calls;
/// of any source, those for every rank.
class LostSources {
 public:
  /// Returns the ended rank, `source` or for -1 any rank; -1: none. With the process lock.
  int of(const WindowState& window, int source);
  /// True if all notifications that the ended ranks had sent have arrived, and may have completed
  /// the request. Otherwise another check is needed later. The first call sweeps: not with the
  /// request lock.
  bool all_heard();

 private:
  bool swept_ = false;
  std::map<std::pair<const WindowState*, int>, int> known_;
};

}  // namespace oriel::boundary
