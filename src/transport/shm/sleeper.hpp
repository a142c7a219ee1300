// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <cstdint>

#include "core/base/cpu_pause.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel {

/// What a blocking call does while there is nothing to do: spins, then yields the processor, then
/// sleeps at this process's doorbell until a peer rings or a bounded time is over.
///
/// A wake-up is not lost, and the peer that stores a word we wait for pays no fence for that:
///
///     sleeper                              storer
///     S1  sleeping = 1                     P1  store of the word (release)
///     S2  membarrier                       P2  look at `sleeping` (relaxed), ring if it is set
///     S3  look for the word (the sweep)
///     S4  wait on `rings` while it has the value read before S3
///
/// What must not happen is that S3 misses P1 and P2 misses S1. The membarrier runs a full fence on
/// every processor that executes a thread of a registered process; a thread that does not run has
/// passed one when it was switched out. If that fence falls before P2 in the storer, P2 sees S1. If
/// it falls after P2, it falls after P1 as well, and S3 sees P1. A ring between S3 and S4 has
/// changed `rings`, and the wait returns at once. In the storer's program P1 and P2 only have to be
/// kept in order by the compiler (atomic_signal_fence).
///
/// Where a process could not register (NodeServices::fences_peers), the storer's processor may
/// carry out P2 before P1; the short timeout then bounds the loss. A timeout is needed in any case:
/// host traffic and peers' deaths do not ring.
class Sleeper {
 public:
  /// With more processes on the node than processors, spinning only keeps the awaited peer from
  /// running: a crowded waiter begins with yielding, and sleeps earlier.
  /// `networked`: what is waited for may come from another node, and does not ring.
  Sleeper(ShmTransport& transport, long spins, long yields, bool crowded, bool networked = false)
      : transport_(&transport),
        networked_(networked),
        spins_(crowded ? 0 : spins),
        yields_(crowded ? yields / 10 : yields),
        spins_left_(spins_),
        yields_left_(yields_) {}
  ~Sleeper() { rise(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Something moved: begin again with spinning.
  void reset() {
    spins_left_ = spins_;
    yields_left_ = yields_;
    yielding_since_ = 0;
    rise();
  }

  /// Whether the next idle() spins; whether it sleeps, unless its last look finds something.
  bool will_spin() const { return spins_left_ > 0; }
  bool will_sleep() const { return spins_left_ <= 0 && yields_left_ <= 0; }

  /// Nothing moved. `sweep` looks once more before a sleep and returns true if something moved;
  /// `check_peers` is called about every 100 ms of sleep. Returns after a moment in any case, and
  /// sleeps after `longest_yielding` in any case: where others want the processor, a yield may take
  /// a scheduler's slice.
  template <typename Sweep, typename CheckPeers>
  void idle(Sweep&& sweep, CheckPeers&& check_peers) {
    if (spins_left_ > 0) {
      // Two processes may be on one processor though there is another, until the system moves one.
      if (--spins_left_ % spins_per_yield == 0) {
        ::sched_yield();
      } else {
        cpu_pause();
      }
    } else if (yields_left_ > 0) {
      if (--yields_left_ % yields_per_look == 0 && yielded_long()) yields_left_ = 0;
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
  static constexpr long yields_per_look = 16;
  /// Some ten microseconds; a yield that nobody takes the processor in takes less than one.
  static constexpr long spins_per_yield = 128;

  bool yielded_long();
  void lie_down();
  bool sleep();
  void rise();

  ShmTransport* transport_;
  bool networked_;
  long spins_, yields_;
  long spins_left_, yields_left_;
  bool lying_ = false;         // counted in Doorbell::sleeping
  std::uint32_t rings_ = 0;    // as read before the last look
  std::uint64_t timeout_ = 0;  // of the next sleep, nanoseconds
  std::uint64_t last_check_ = 0;
  std::uint64_t yielding_since_ = 0;  // 0: not known yet
};

}  // namespace oriel
