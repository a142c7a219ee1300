// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/quiet_peers.hpp"

#include "engine/stalls/awaited_peers.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel {

void QuietPeers::look(const AwaitedPeers& awaited, std::uint64_t now) {
  for (const AwaitedPeer& peer : awaited.peers) {
    const int process = peer.process();
    if (process < 0) continue;
    const std::uint64_t calls = node_.calls(process).locked();
    Seen& seen = seen_.try_emplace(process, Seen{calls, now}).first->second;
    if (seen.calls != calls) seen = {calls, now};
  }
}

std::uint64_t QuietPeers::quiet_since(int process) const {
  const std::uint64_t shown = node_.calls(process).quiet_since();
  if (shown != 0) return shown;
  const auto seen = seen_.find(process);
  return seen != seen_.end() ? seen->second.since : 0;
}

}  // namespace oriel
