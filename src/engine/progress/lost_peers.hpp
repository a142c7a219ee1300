// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>

#include "core/process.hpp"
#include "engine/process/engine_failure.hpp"

namespace oriel {

// All of these are called with the process lock.

/// The failure to report if an awaited member of the window, which is one of `process`, has ended;
/// empty: none has.
EngineFailure look_for_lost_peers(Process& process, Window& window);
/// The failure to report if any member has ended, for steps that all members take.
EngineFailure look_for_any_lost(Window& window);
/// The failure of a call that waits for `rank`, which has ended.
EngineFailure lost_rank(Window& window, int rank);

/// look_for_lost_peers(), repeated during a wait.
class LostPeerCheck {
 public:
  LostPeerCheck(Process& process, Window& window) : process_(process), window_(window) {}

  EngineFailure operator()() {
    if (skipped_ == 0) return look_for_lost_peers(process_, window_);
    --skipped_;
    return {};
  }
  /// Makes the next `calls` calls check nothing. A check would lose messages: once asked about a
  /// process that has ended, a network drops messages of that process that it has not read yet.
  void skip(int calls) { skipped_ = calls; }

 private:
  Process& process_;
  Window& window_;
  int skipped_ = 0;
};

/// Caches each check for all requests that wait for the same ranks: a check takes system calls;
/// of any source, those for every rank.
class LostSources {
 public:
  explicit LostSources(Process& process) : process_(process) {}

  /// Returns the ended rank, `source` or for -1 any rank; -1: none.
  int of(Window& window, int source);
  /// True if a member of the window that its epochs wait for has ended.
  bool awaited(Window& window);
  /// True if all notifications that the ended ranks had sent have arrived, and may have completed
  /// the request. Otherwise another check is needed later. The first call sweeps.
  bool all_heard();

 private:
  Process& process_;
  bool swept_ = false;
  std::map<std::pair<const Window*, int>, int> known_;
  std::map<const Window*, bool> awaited_;
};

}  // namespace oriel
