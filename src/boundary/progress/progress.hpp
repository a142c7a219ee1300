// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/stalls/unlocked_long_wait.hpp"

namespace oriel::boundary {

/// Oriel's place in the host's progress engine, by which it sweeps while the host waits (E10). If
/// the host has no such place, Oriel interposes the host's blocking calls instead (sweeping.hpp).
class Progress {
 public:
  /// Registers with the host; at the first window, so that programs without any pay nothing.
  void start();
  /// Before the host is finalized.
  void stop();
  /// Whether a window with remote ranks needs the agent: not if it is never locked, because then
  /// every rank comes to MPI by itself; unless it may wait in a call of the host's in which we are
  /// not asked.
  bool needs_agent(bool no_locks) const { return !no_locks || !hooked(); }
  bool hooked() const { return hooked_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> hooked_{false};
};

extern Progress progress;

/// Exists while this thread is in a blocking call of the host's: the host's progress engine calls
/// ours, which looks at the thread's long wait.
class HookedWait {
 public:
  explicit HookedWait(WaitReason reason);
  ~HookedWait();
  HookedWait(const HookedWait&) = delete;
  HookedWait& operator=(const HookedWait&) = delete;

  /// By the hook. It never waits for the process lock, because the thread may have locks of the
  /// host's.
  void take_turn();

 private:
  UnlockedLongWait wait_;
  std::uint64_t looked_;
  HookedWait*
      outer_;  // MPI_Comm_dup calls the program's attribute callbacks, which may make windows
};

/// Called when a poll found nothing: with more ranks than processors on the node, gives the
/// processor away now and then.
void considerate_poll();

}  // namespace oriel::boundary
