// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/epoch/events.hpp"
#include "engine/process/call_site.hpp"
#include "engine/progress/pace.hpp"

namespace oriel {

struct AwaitedPeers;
class Engine;
class ShmTransport;
class Window;

/// The times since which processes of the node have made no calls on windows, found by reading
/// their CallCounts repeatedly. With the process lock.
class QuietPeers {
 public:
  explicit QuietPeers(ShmTransport& node) : node_(node) {}
  /// Reads the call counts of the awaited peers. `now`: the monotonic clock.
  void look(const AwaitedPeers& awaited, std::uint64_t now);
  /// A time since which the process has made no call on a window, except hot paths; 0: not known.
  std::uint64_t quiet_since(int process) const;

 private:
  struct Seen {
    std::uint64_t calls;
    std::uint64_t since;  // when `calls` was first read
  };

  ShmTransport& node_;
  std::map<int, Seen> seen_;  // by process
};

/// A blocking call (B2). After a tenth of a second, its process shows the peers of the node what it
/// waits for (WaitSign). It prints a report on standard error after ORIEL_STALL seconds, once for
/// each place in the program, and on each signal that requests one. A shorter wait costs nothing.
class LongWait {
 public:
  /// `frames`: those of the thread that waits; empty: that thread calls report() itself.
  LongWait(Engine& engine, const WindowEvents& events, const Wait& wait,
           const CallFrames& frames = {});
  /// With the process lock, if look() or report() has been called.
  ~LongWait();
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// Called after each tenth of a second of the wait. With the process lock, which is released
  /// while a report is written.
  void look();
  /// look() for a caller that must not wait for the lock: instead of writing the report, returns
  /// it; empty: there is none. Does not release the lock.
  std::string report();

  /// The number of the window in this process; 0: no window in particular.
  std::uint32_t window() const { return events_.window(); }
  const Wait& wait() const { return wait_; }
  std::uint64_t begun() const { return begun_; }
  Engine& engine() const { return engine_; }

 private:
  bool first_of_its_place();
  /// A report of some lines for the user: which rank waits, in which call, since when, and for
  /// which peers; what these peers do, and whether the waits form a circle. `awaited`: the peers
  /// that this wait depends on; `now`: the monotonic clock. With the process lock.
  std::string describe(const AwaitedPeers& awaited, std::uint64_t now) const;
  void show(const AwaitedPeers& awaited);
  int awaited_rank(const AwaitedPeers& awaited) const;
  const Window* window_of(const AwaitedPeers& awaited) const;

  Engine& engine_;
  WindowEvents events_;
  Wait wait_;
  CallFrames frames_;        // empty: those of the caller of report()
  std::uint64_t begun_ = 0;  // approximate; 0: the wait is shorter than a tenth of a second
  std::uint32_t answered_ = 0;
  bool reported_ = false;     // as longer than ORIEL_STALL
  QuietPeers quiet_peers_;    // of the awaited peers
  LongWait* next_ = nullptr;  // in the list of the process's long waits, the oldest first
};

/// A LongWait, on no window in particular, of a thread that waits without the process lock.
class UnlockedLongWait {
 public:
  /// `frames`: those of the thread that waits; empty: the thread calls look() itself.
  UnlockedLongWait(Engine& engine, WaitReason reason, const CallFrames& frames = {})
      : engine_(engine), reason_(reason), frames_(frames) {}
  ~UnlockedLongWait();
  UnlockedLongWait(const UnlockedLongWait&) = delete;
  UnlockedLongWait& operator=(const UnlockedLongWait&) = delete;

  /// Called after each tenth of a second of the wait. Acquires the process lock.
  void look();
  /// look() for a caller that must not wait for the lock: returns the report instead of writing it.
  /// Empty if there is none, or another thread holds the process lock.
  std::string try_report();

 private:
  std::string report();

  Engine& engine_;
  WaitReason reason_;
  CallFrames frames_;
  std::optional<LongWait> wait_;
};

/// Exists while a thread is in a blocking call of the host's whose progress engine calls Oriel's
/// hook. The thread that runs the hook checks the long waits of all threads, because the others may
/// sleep in the host.
class HookedWait {
 public:
  HookedWait(Engine& engine, WaitReason reason);
  ~HookedWait();
  HookedWait(const HookedWait&) = delete;
  HookedWait& operator=(const HookedWait&) = delete;

  /// Checks the hooked waits of the engine. Called by the hook, on any thread. Does not wait for
  /// the process lock, because the thread may hold locks of the host's.
  static void look_at_all(Engine& engine);

 private:
  Engine& engine_;
  UnlockedLongWait wait_;
  PeerTimer timer_;
  HookedWait* next_;  // in the list of the engine's hooked waits
};

}  // namespace oriel
