// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "engine/stalls/awaited_peers.hpp"
#include "engine/stalls/long_wait.hpp"
#include "engine/stalls/quiet_peers.hpp"

namespace oriel {

/// A report of some lines for the user: which rank waits, in which call, since when, and for which
/// peers; what these peers do, and whether the waits form a circle. `awaited`: the peers that this
/// wait depends on; `now`: the monotonic clock. `frames`: those of the thread that waits. With the
/// process lock.
std::string stall_report(const LongWait& wait, const CallFrames& frames,
                         const AwaitedPeers& awaited, const QuietPeers& quiet_peers,
                         std::uint64_t now);

}  // namespace oriel
