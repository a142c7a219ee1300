// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/published.hpp"
#include "core/base/zero_array.hpp"
#include "core/epoch/done_word.hpp"
#include "core/epoch/epoch.hpp"

namespace oriel {

struct Member;
class Aggregation;

/// Operations of a rank's that have not taken place though their calls are over: see
/// PeerInterface::recall().
struct Left {
  static constexpr std::uint8_t inlined_stores = 1;  // in the target's queue of notifications
  static constexpr std::uint8_t aggregated_puts = 2;
  static constexpr std::uint8_t aggregated_gets = 4;
};

/// One rank as a window's epochs see it. Zero bytes are a valid one that nothing has been done
/// with. What the hot path reads comes first, in one cache line, and it reads without a lock:
/// whatever thread opens the way stores `ready` with release, after the five members that it
/// stands for and that do not change while it is set.
struct alignas(cache_line) EpochPeer {
  Published<Target*> ready;   // set while operations of the open epoch may go straight to memory,
  std::byte* base = nullptr;  // which lies here,
  std::uint64_t size = 0;     // so many bytes; 0: elsewhere, or one system call away
  std::uint64_t first = 0;    // and begins so many bytes behind the rank's memory
  std::uint32_t disp_unit = 0;
  Published<std::uint8_t> left;         // a set of Left
  Published<std::uint8_t> short_moves;  // in a row that have gone at their calls: see Aggregation
  const Member* member = nullptr;       // whose memory it is
  /// Threads of which an operation went the general path since a flush last found nothing of theirs
  /// outstanding.
  Published<ThreadSet> outstanding;
  Epoch* lock = nullptr;     // our open lock epoch
  Epoch* locking = nullptr;  // our epoch that has our place in the rank's lock queue
  Epoch* touched = nullptr;  // the open start, fence or lock_all epoch that has a Target for it

  Target* target = nullptr;     // that Target
  std::uint64_t accesses = 0;   // accesses requested to it (paper: a_l)
  std::uint64_t exposures = 0;  // exposures opened to it (paper: e_l)
  DoneWord done;                // access epochs to it that we have completed
  // Weak unlocks that left it operations without a question: all, those that some later question
  // answers for, and those that have been answered for.
  std::uint64_t weak_sent = 0;
  std::uint64_t weak_asked = 0;
  std::uint64_t weak_answered = 0;
  Target* notified =
      nullptr;  // of the window's notified epoch, once there has been an access to it

  Aggregation* aggregation = nullptr;  // not empty, or it has failed
  Target* light =
      nullptr;  // of the light lock_all epoch; null before its first operation to the rank

  // Of our one place in its lock queue: see Epochs::free_place().
  EpochQueue locks;           // our lock epochs that wait for it
  Epoch* entitled = nullptr;  // the lock epoch that is to have it, until the rank is told

  // Notifications to it that found no space, of whichever epochs: how many there have been, and how
  // many of them have gone since. They go in this order, and no other one before them.
  std::uint32_t notifications_held = 0;
  std::uint32_t notifications_sent = 0;
  bool queue_full = false;  // when it was last tried

  /// Whether the epoch, which is active, may ask for the rank's lock.
  bool may_lock(const Epoch& epoch) const {
    if (locking != nullptr) return false;
    if (entitled != nullptr) return entitled == &epoch;
    return locks.empty() || epoch.opened_at < locks.first()->opened_at;
  }
  /// Whether a flush has to recall something.
  bool left_for(bool local) const {
    const std::uint8_t all = left.load(std::memory_order_acquire);
    return (local ? all & Left::aggregated_gets : all) != 0;
  }
  bool holds_notifications() const { return notifications_held != notifications_sent; }
  /// Weak unlocks have left operations that may not be complete there.
  bool weak_left() const { return weak_answered < weak_sent; }
};

/// The ranks of a window, as its epochs see them.
class EpochPeers {
 public:
  explicit EpochPeers(int ranks) : peers_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(peers_.size()); }
  bool valid(int rank) const { return rank >= 0 && rank < ranks(); }
  EpochPeer& operator[](int rank) { return peers_[rank]; }
  const EpochPeer& operator[](int rank) const { return peers_[rank]; }

 private:
  ZeroArray<EpochPeer> peers_;
};

}  // namespace oriel
