// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "core/epoch/events.hpp"
#include "engine/stalls/quiet_peers.hpp"

namespace oriel {

struct AwaitedPeers;
class Window;

/// A blocking call (B2). Once it has waited for a tenth of a second its process shows peers of the
/// node what it waits for (WaitSign). After ORIEL_STALL seconds, once for each place in the
/// program, or when a signal asks, it prints a report on standard error. A shorter wait costs
/// nothing.
class LongWait {
 public:
  LongWait(const WindowEvents& events, const Wait& wait) : events_(events), wait_(wait) {}
  /// With the process lock, if look() has been called.
  ~LongWait();
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// Another tenth of a second has gone. With the process lock, which is released while a report is
  /// written.
  void look();
  /// The same without the release, for a caller that must not wait for the lock: the report to be
  /// printed, empty if there is none.
  std::string report();

  /// This process's number of the window; 0: none in particular.
  std::uint32_t window() const { return events_.window(); }
  const Wait& wait() const { return wait_; }
  std::uint64_t begun() const { return begun_; }

 private:
  void show(const AwaitedPeers& awaited);
  int awaited_rank(const AwaitedPeers& awaited) const;
  const Window* window_of(const AwaitedPeers& awaited) const;

  WindowEvents events_;
  Wait wait_;
  std::uint64_t begun_ = 0;  // about; 0: it has not lasted
  std::uint32_t answered_ = 0;
  bool reported_ = false;     // that it lasts too long
  QuietPeers quiet_peers_;    // of those that are awaited
  LongWait* next_ = nullptr;  // of the process, by age: several threads may wait
};

}  // namespace oriel
