// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>

namespace oriel {

struct AwaitedPeers;
class ShmTransport;

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

}  // namespace oriel
