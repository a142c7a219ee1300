// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <cstdint>

#include "core/base/shared_words.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel {

/// The waiting of a blocking call while sweeps find nothing: it spins, then yields the processor,
/// then sleeps on this process's doorbell until a peer rings or a bounded time is over.
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
  /// `crowded`: the node has more processes than processors. Spinning would keep the awaited peer
  /// from running, so the wait begins with yielding, and sleeps earlier. `networked`: the awaited
  /// event may come from another node, and does not ring.
  Sleeper(ShmTransport& transport, long spins, long yields, bool crowded, bool networked = false)
      : transport_(&transport),
        networked_(networked),
        spins_(crowded ? 0 : spins),
        yields_(crowded ? yields / 10 : yields),
        remaining_spins_(spins_),
        remaining_yields_(yields_) {}
  ~Sleeper() { rise(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Begins again with spinning. Called when a sweep has moved something.
  void reset() {
    remaining_spins_ = spins_;
    remaining_yields_ = yields_;
    yielding_since_ = 0;
    rise();
  }

  /// True if the next idle() spins; true if it sleeps, unless its last sweep moves something.
  bool will_spin() const { return remaining_spins_ > 0; }
  bool will_sleep() const { return remaining_spins_ <= 0 && remaining_yields_ <= 0; }

  /// Waits for a moment. Called when a sweep has moved nothing. `sweep` is called once more before
  /// a sleep and returns true if it moved something; `check_peers` is called about every 100 ms of
  /// sleep. Yielding ends after `longest_yielding` in any case: if other processes want the
  /// processor, one yield may take a scheduler's slice.
  template <typename Sweep, typename CheckPeers>
  void idle(Sweep&& sweep, CheckPeers&& check_peers) {
    if (remaining_spins_ > 0) {
      // Two processes may share a processor though another one is free, until the system moves one.
      if (--remaining_spins_ % spins_per_yield == 0) {
        ::sched_yield();
      } else {
        cpu_pause();
      }
    } else if (remaining_yields_ > 0) {
      if (--remaining_yields_ % yields_per_check == 0 && yielded_long()) remaining_yields_ = 0;
      ::sched_yield();
    } else {
      lie_down();
      if (sweep()) {
        reset();
      } else if (sleep()) {
        check_peers();
      }
    }
  }

 private:
  static constexpr long yields_per_check = 16;
  /// Some ten microseconds. A yield takes less than one if no other thread wants the processor.
  static constexpr long spins_per_yield = 128;

  bool yielded_long();
  void lie_down();
  bool sleep();
  void rise();

  ShmTransport* transport_;
  bool networked_;
  long spins_, yields_;
  long remaining_spins_, remaining_yields_;
  bool lying_ = false;         // counted in Doorbell::sleeping
  std::uint32_t rings_ = 0;    // Doorbell::rings as read before the last sweep
  std::uint64_t timeout_ = 0;  // of the next sleep, nanoseconds
  std::uint64_t last_check_ = 0;
  std::uint64_t yielding_since_ = 0;  // nanoseconds; 0: not known yet
};

}  // namespace oriel
