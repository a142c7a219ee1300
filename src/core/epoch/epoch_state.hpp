// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/error.hpp"
#include "core/epoch/epoch_peer.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/lock_order.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/epoch/sweep_work.hpp"

namespace oriel {

/// The state that a window's Epochs share with the objects that reach other ranks for them.
struct EpochState {
  EpochState(const WindowEvents& window_events, EpochPeers& window_peers, EpochPools& pools,
             LockOrder& order, SweepWork& sweep_work)
      : events(window_events),
        lock_order(order),
        peers(window_peers),
        work(sweep_work),
        pending(pools, order, peers, work, events) {}

  WindowEvents events;
  LockOrder& lock_order;  // of the process
  EpochPeers& peers;
  FailureReason reason;
  SweepWork& work;
  PendingOperations pending;
};

}  // namespace oriel
