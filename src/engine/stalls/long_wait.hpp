// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "core/epoch/events.hpp"
#include "engine/process/call_site.hpp"
#include "engine/stalls/quiet_peers.hpp"

namespace oriel {

struct AwaitedPeers;
class Engine;
class Window;

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

}  // namespace oriel
