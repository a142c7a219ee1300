// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "engine/stalls/awaited_peers.hpp"
#include "engine/stalls/long_wait.hpp"
#include "engine/stalls/quiet_peers.hpp"

namespace oriel {

/// Some lines for people: which rank waits in which call, since when, for what and for whom, what
/// those do, and whether they wait for one another. `awaited`: by this wait; `now`: of the
/// monotonic clock. With the process lock, on the thread that waits.
std::string stall_report(const LongWait& wait, const AwaitedPeers& awaited,
                         const QuietPeers& quiet_peers, std::uint64_t now);

}  // namespace oriel
