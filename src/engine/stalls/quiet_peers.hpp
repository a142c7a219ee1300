// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>

namespace oriel {

struct AwaitedPeers;

/// Since when processes of the node make no calls on windows, as their CallCounts and repeated
/// looks at these tell. With the process lock.
class QuietPeers {
 public:
  /// Notes how many calls the awaited peers have made. `now`: of the monotonic clock.
  void look(const AwaitedPeers& awaited, std::uint64_t now);
  /// Since when, at least, the process has made no call on a window but on hot paths; 0: that is
  /// not known.
  std::uint64_t quiet_since(int process) const;

 private:
  struct Seen {
    std::uint64_t calls;
    std::uint64_t since;  // the first look at so many
  };

  std::map<int, Seen> seen_;  // by process
};

}  // namespace oriel
