// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/window.hpp"
#include "engine/stalls/long_wait.hpp"

namespace oriel {

struct AwaitedPeer {
  const Window* window;
  Awaited awaited;

  /// The number of the rank's process in the node's transport. -1: the rank is not known, or is on
  /// another node.
  int process() const;
};

/// The peers that must act before a wait can end.
struct AwaitedPeers {
  std::vector<AwaitedPeer> peers;  // empty: not known, or any rank may end the wait
  /// True if the wait is for all of these. Otherwise it may be for some only: MPI_Wait and its
  /// variants name requests, and the windows of requests are not known here.
  bool exact = false;
};

/// The peers that the wait depends on. With the process lock.
AwaitedPeers awaited_peers(const LongWait& wait);

}  // namespace oriel
