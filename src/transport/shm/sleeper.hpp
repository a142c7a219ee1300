// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "transport/shm/shm_transport.hpp"

namespace oriel {

/// The sleep of a waiting thread on its process's doorbell, until a peer rings or a bounded time is
/// over.
///
/// No wake-up is lost, and the peer that stores an awaited word needs no fence for that:
///
///     sleeper                              storer
///     S1  sleeping = 1                     P1  store of the word (release)
///     S2  membarrier                       P2  load `sleeping` (relaxed), ring if it is set
///     S3  load the word (the sweep)
///     S4  wait on `rings` while it has the value read before S3
///
/// A wake-up would be lost only if S3 missed P1 and P2 missed S1. That cannot happen:
/// - The membarrier runs a full fence on every processor that executes a thread of a registered
///   process. A thread that does not run has executed one when it was switched out.
/// - If that fence precedes P2 in the storer, P2 sees S1.
/// - If it follows P2, it follows P1 as well, and S3 sees P1.
/// - A ring between S3 and S4 has changed `rings`, and the wait returns at once.
/// In the storer, only the compiler must keep P1 and P2 in order (atomic_signal_fence).
///
/// If a process could not register (NodeServices::fences_peers), the storer's processor may execute
/// P2 before P1; the short timeout then bounds the loss. A timeout is needed in any case, because
/// the host's traffic and the deaths of peers do not ring.
class Sleeper {
 public:
  /// `networked`: the awaited event may come from another node, and does not ring.
  explicit Sleeper(ShmTransport& transport, bool networked = false)
      : transport_(&transport), networked_(networked) {}
  ~Sleeper() { rise(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Sleeps once. Called when a sweep has moved nothing. If `sweep`, which is called once more
  /// before the sleep, returns true, returns true without a sleep: it has moved something.
  template <typename Sweep>
  bool sleep(Sweep&& sweep) {
    lie_down();
    if (!sweep()) {
      wait_for_ring();
      return false;
    }
    rise();
    return true;
  }
  /// Ends the sleeps: peers need not ring any more, and the next sleep is short again.
  void rise();

 private:
  void lie_down();
  void wait_for_ring();

  ShmTransport* transport_;
  bool networked_;
  bool lying_ = false;         // counted in Doorbell::sleeping
  std::uint32_t rings_ = 0;    // Doorbell::rings as read before the last sweep
  std::uint64_t timeout_ = 0;  // of the next sleep, nanoseconds
};

}  // namespace oriel
