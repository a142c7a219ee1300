// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/window.hpp"
#include "engine/stalls/long_wait.hpp"

namespace oriel {

struct AwaitedPeer {
  const Window* window;
  Awaited awaited;

  /// Number of the rank's process in the node's transport; -1: the rank is not known, or of another
  /// node.
  int process() const;
};

/// The peers that must act before a wait ends.
struct AwaitedPeers {
  std::vector<AwaitedPeer> peers;  // none: they are not known, or any rank may end the wait
  /// The wait is for all of these. Else it may be for some of them only: MPI_Wait and its kind name
  /// requests, whose windows are not known here.
  bool exact = false;
};

/// With the process lock.
AwaitedPeers awaited_peers(const LongWait& wait);

}  // namespace oriel
