// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/base/shared_words.hpp"
#include "core/lock/control.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

/// The lock of one target: granted in the order of requests, shared requests together; acquired and
/// handed on by the origins alone. The target takes no part (E12), so a target that computes delays
/// no origin.
///
///   LockQueue::holders  bit 63: held exclusively by the origin in the lower bits; bit 62: kept by
///                       the origin in the lower bits, which holds it while its Slot::locked is 1;
///                       otherwise the number of counted shared holders in the lower half, and bit
///                       61: besides these, each rank of the node holds it shared while its
///                       Slot::locked is 2. The bits between are the phase, a number for each time
///                       that bit 61 is set
///   LockQueue::line     upper half: 1 + the rank that has the guard, or 0; lower half: requests in
///                       the queue
///
/// If the queue is empty, one compare-exchange acquires the lock and one exchange gives it back.
/// The first origin that acquires it exclusively is its keeper until another origin requests it:
/// the keeper acquires it and gives it back by a store to its own Slot::locked. All shared holders
/// do the same until an origin requests the lock exclusively: they are uncounted. An origin that
/// does not get the lock in this way takes the guard and enters the queue. An origin that gives the
/// lock back while the queue is not empty takes the guard and hands the lock on. Only the owner of
/// the guard changes the queue, takes a kept lock away, or acquires exclusively a lock that may
/// have uncounted holders.
///
///     keeper, or uncounted holder           another origin
///     K1  locked = 1, 2 or 0                A1  line != 0 (the guard)
///     K2  read `line`                       A2  contended = 1, fence of all peers
///     K3  acquiring: read `holders`         A3  read `holders` and `locked`
///                                           A4  locked was 0: change `holders`; line may become 0
///
/// Either K2 reads A1, or A3 reads K1 (see store_before_load()). If K2 comes after `line` is 0
/// again, K3 reads A4. So a keeper that acquires the lock, reads line = 0, and is still the keeper
/// holds it. When a keeper gives the lock back and reads line = 0, each origin that enters the
/// queue sees that. If the keeper reads line != 0, the guard decides. This holds for an uncounted
/// holder, too. It begins only if `line` is 0, so that shared requests do not overtake exclusive
/// ones for ever.
///
/// A2 for a keeper: only the first origin that enters the queue fences, and sets `contended`. A
/// keeper reads line != 0 until it has lost the lock. No origin becomes a keeper while `contended`
/// is set, until one has acquired the lock `long_streak` times in a row. A new keeper stores
/// `holders`, then reads `contended`, or, if it has cleared that, `line`.
///
/// A2 for uncounted holders: every request that enters the queue while bit 61 is set fences. A
/// request that entered it before did not fence, but each uncounted holder sees it, by the order of
/// these steps: A1, the request reads `holders` without bit 61, bit 61 is set, K2. Therefore K3
/// requires the phase that the uncounted holder read before K1: its K2 then came after bit 61 was
/// set. When an exclusive request has acquired the lock from uncounted holders, the next
/// `long_streak` shared holders are counted.
///
/// Invariants (guard free): an exclusive holder excludes every other holder; if the queue is not
/// empty, a rank holds the lock or is about to hand it on; requests in the queue are granted in the
/// order of arrival, except those that join.
///
/// Acquire: every compare-exchange that takes the lock, the load that reads Slot::locked = 0, and
/// the load that reads the grant in LockNode::state. Release: every store that gives the lock back,
/// and the store of LockNode::state. So the next holder sees what a holder has written into the
/// window.
///
/// Death: if a process is killed while it has the guard, the guard is lost, and so is the queue,
/// which may be inconsistent. No rank waits for a lost guard for ever: a request is then never
/// granted, a lock that is given back is not handed on, and a keeper stays the keeper. An origin
/// that waits for its grant checks now and then whether all ranks live (Epochs::lost_peer), which
/// it must for the holder of the lock as well.
template <typename Words>
class BasicLockLine {
 public:
  using Sharers = typename SharersOf<Words>::Type;
  using LockNode = BasicLockNode<Words>;

  BasicLockLine(BasicControlBlock<Words>& control, Sharers& sharers)
      : control_(control), queue_(control.lock), nodes_(control.nodes()), sharers_(sharers) {}

  /// Acquires the lock if no other holder excludes that and the queue is empty.
  bool try_acquire(int origin, bool exclusive) {
    if (exclusive && keeps(origin)) [[likely]]
      return acquire_by_word(origin, kept_by(origin));
    if (queue_.line.load(std::memory_order_seq_cst) != 0) return false;
    if (!exclusive) {
      // An origin on another node, for which the target acts, is counted.
      if (static_cast<std::uint32_t>(origin) != sharers_.self())
        return acquire_by_holders(origin, false);
      const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
      return (holders & uncounted_bit) != 0 ? acquire_by_word(origin, holders & ~counted)
                                            : acquire_shared(origin);
    }
    if (queue_.contended.load(std::memory_order_relaxed) == 0) return keep(origin);
    if (!acquire_by_holders(origin, true)) return false;
    count(origin);
    return true;
  }

  /// Gives the lock back. False if the queue is not empty: hand_on() must follow.
  bool release(int origin, bool exclusive) {
    auto& locked = control_.slots()[origin].locked;
    if (locked.load(std::memory_order_relaxed) != 0) [[likely]] {
      store_before_load<Words>(locked, 0, sharers_.asymmetric());
    } else if (exclusive) {
      queue_.holders.exchange(0, std::memory_order_seq_cst);
    } else {
      queue_.holders.fetch_sub(1, std::memory_order_seq_cst);
    }
    return queue_.line.load(std::memory_order_seq_cst) == 0;
  }

  /// Acquires the lock (true) or appends `origin` to the queue (false). Then LockNode::state of the
  /// origin reports the grant; if the guard is lost, it never does. `joins`: the request is shared
  /// and does not wait behind exclusive ones while others hold the lock shared. Requests of
  /// lock_all epochs join, because such an epoch acquires its locks one by one, as it needs them.
  /// Otherwise two of them could wait for one another, each behind an exclusive request that waits
  /// for the other epoch to give a lock back. Exclusive requests wait as long as such epochs
  /// overlap.
  bool acquire(int origin, bool exclusive, bool joins);

  /// The origin that holds the lock exclusively at this moment, or -1. It may have given it back
  /// when this returns.
  int exclusive_holder() const {
    const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
    if ((holders & (exclusive_bit | kept_bit)) == 0) return -1;
    const auto origin = static_cast<int>(holders & counted);
    const bool holds = (holders & exclusive_bit) != 0 ||
                       control_.slots()[origin].locked.load(std::memory_order_seq_cst) == by_keeper;
    return holds ? origin : -1;
  }

  /// Adds a piggybacked operation to the waiting request of `origin`. False if the lock was granted
  /// meanwhile, or if the guard is lost.
  bool add_piggyback(int origin, const Piggyback& piggyback);

  /// Grants the lock to requests in the queue as far as it is free. For a piggybacked operation,
  /// run() is called when its request is granted, and returns false if the operation fails. The
  /// origins whose LockNode::state has changed are appended to `woken`.
  template <typename Run>
  void hand_on(std::vector<int>& woken, Run&& run) {
    std::uint32_t waiting = 0;
    if (!acquire_guard(waiting)) return;
    while (queue_.head != 0) {
      LockNode& node = nodes_[queue_.head - 1];
      const bool exclusive = node.exclusive != 0;
      const int origin = static_cast<int>(queue_.head) - 1;
      if (!acquire_or_revoke(origin, exclusive)) break;
      std::uint32_t state = LockNode::granted;
      if (node.has_piggyback != 0) {
        state = run(node.piggyback) ? LockNode::piggyback_done : LockNode::failed;
        exclusive ? queue_.holders.store(0, std::memory_order_release)
                  : void(queue_.holders.fetch_sub(1, std::memory_order_release));
      }
      --waiting;
      queue_.joiners -= node.joins;
      woken.push_back(origin);
      queue_.head = node.next;
      if (queue_.head == 0) queue_.tail = 0;
      // Last access to the node: its origin may reuse it as soon as it reads this state.
      node.state.store(state, std::memory_order_release);
    }
    if (queue_.joiners != 0) waiting -= let_join(woken);
    release_guard(waiting);
  }

 private:
  static constexpr std::uint64_t exclusive_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kept_bit = std::uint64_t{1} << 62;
  static constexpr std::uint64_t uncounted_bit = std::uint64_t{1} << 61;
  static constexpr unsigned phase_shift = 32;  // first bit of the phase; uncounted_bit is above it
  static constexpr std::uint64_t counted = (std::uint64_t{1} << phase_shift) - 1;
  // Values of Slot::locked, which is 0 while its origin does not hold the lock by this word. All
  // stores are release: whichever is read, the loads that its origin made under the lock before
  // precede it.
  static constexpr std::uint32_t by_keeper = 1;
  static constexpr std::uint32_t uncounted = 2;
  static constexpr unsigned guard_shift = 32;
  std::uint64_t guarded_by_us() const {
    return static_cast<std::uint64_t>(sharers_.self() + 1) << guard_shift;
  }

  static std::uint64_t held_by(int origin) {
    return exclusive_bit | static_cast<std::uint64_t>(origin);
  }
  static std::uint64_t kept_by(int origin) { return kept_bit | static_cast<std::uint64_t>(origin); }
  bool keeps(int origin) const {
    return queue_.holders.load(std::memory_order_relaxed) == kept_by(origin);
  }

  bool has_uncounted() const {
    return (queue_.holders.load(std::memory_order_seq_cst) & uncounted_bit) != 0;
  }
  /// True if `holders` permits an origin to hold the lock by its own word. `mode`: kept_by(origin),
  /// or uncounted_bit and the phase.
  static bool permits(std::uint64_t holders, std::uint64_t mode) {
    return (mode & kept_bit) != 0 ? holders == mode : (holders & ~counted) == mode;
  }
  /// Acquires the lock by the origin's own word, in a mode that `holders` permitted a moment ago.
  bool acquire_by_word(int origin, std::uint64_t mode) {
    const std::uint32_t value = (mode & kept_bit) != 0 ? by_keeper : uncounted;
    store_before_load<Words>(control_.slots()[origin].locked, value, sharers_.asymmetric());
    const bool lined_up = queue_.line.load(std::memory_order_seq_cst) != 0;
    // Another origin may have entered the queue, acquired the lock and left the queue before our
    // store. If the phase is still the same, it began before we read `line`.
    if (!lined_up && permits(queue_.holders.load(std::memory_order_seq_cst), mode)) [[likely]]
      return true;
    return confirm(origin, mode);
  }

  /// Acquires a free lock. The origin becomes its keeper if no request has entered the queue
  /// meanwhile.
  bool keep(int origin);
  /// Acquires the lock shared while bit 61 is not set: uncounted, as the first one, if permitted;
  /// else counted.
  bool acquire_shared(int origin);
  /// Called by an exclusive holder that did not enter the queue.
  void count(int origin) {
    const auto name = static_cast<std::uint32_t>(origin) + 1;
    if (queue_.last != name) {
      queue_.last = name;
      queue_.streak = 0;
    } else if (++queue_.streak >= Words::long_streak) {
      keep_again(origin);
    }
  }
  void keep_again(int origin);
  /// Called after the store to Slot::locked, if the queue is not empty or the mode has changed.
  /// Decides with the guard whether the origin holds the lock, and clears the word if not.
  bool confirm(int origin, std::uint64_t mode);
  /// Acquires the lock, in `holders`, if it has no keeper and no other holder excludes that.
  bool acquire_by_holders(int origin, bool exclusive) {
    std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
    if (exclusive) {
      return holders == 0 && queue_.holders.compare_exchange_strong(holders, held_by(origin),
                                                                    std::memory_order_seq_cst);
    }
    while ((holders & (exclusive_bit | kept_bit)) == 0) {
      if (queue_.holders.compare_exchange_weak(holders, holders + 1, std::memory_order_seq_cst)) {
        return true;
      }
    }
    return false;
  }
  /// With the guard: acquires the lock beside those that hold it shared.
  bool join() {
    std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
    while (holders != 0 && (holders & (exclusive_bit | kept_bit)) == 0) {
      if ((holders & counted) == 0 && !any_uncounted()) return false;
      if (queue_.holders.compare_exchange_weak(holders, holders + 1, std::memory_order_seq_cst)) {
        return true;
      }
    }
    return false;
  }
  /// With the guard: grants the lock to the requests in the queue that join, if it is held shared
  /// now. Returns their number.
  std::uint32_t let_join(std::vector<int>& woken);
  /// With the guard: acquires the lock if it is free. It is free, too, if its keeper does not hold
  /// it, or, for an exclusive request, if the words of all uncounted holders are clear.
  bool acquire_or_revoke(int origin, bool exclusive);
  /// With the guard: true if an uncounted holder holds the lock.
  bool any_uncounted();

  /// Takes the guard; `waiting`: the number of requests in the queue. False if a process has died
  /// with the guard.
  bool acquire_guard(std::uint32_t& waiting);
  void release_guard(std::uint32_t waiting) {
    queue_.line.store(waiting, std::memory_order_release);
  }

  BasicControlBlock<Words>& control_;
  BasicLockQueue<Words>& queue_;
  LockNode* nodes_;
  Sharers& sharers_;
};

// The parts for a lock that is not simply free.

template <typename Words>
bool BasicLockLine<Words>::acquire_guard(std::uint32_t& waiting) {
  for (Patience<Words> patience(sharers_);;) {
    std::uint64_t line = queue_.line.load(std::memory_order_relaxed);
    const auto guard = static_cast<std::uint32_t>(line >> guard_shift);
    if (guard != 0) {
      if (!patience.wait(guard - 1)) return false;
    } else if (queue_.line.compare_exchange_weak(line, line | guarded_by_us(),
                                                 std::memory_order_seq_cst)) {
      waiting = static_cast<std::uint32_t>(line);
      return true;
    } else {
      patience.retry();
    }
  }
}

template <typename Words>
bool BasicLockLine<Words>::keep(int origin) {
  auto& locked = control_.slots()[origin].locked;
  locked.store(by_keeper, std::memory_order_release);
  std::uint64_t free = 0;
  const bool acquired =
      queue_.holders.compare_exchange_strong(free, kept_by(origin), std::memory_order_seq_cst);
  // A request may have entered the queue, and been served, since we read `contended`: no keeper
  // then.
  if (acquired && queue_.contended.load(std::memory_order_seq_cst) == 0) return true;
  if (acquired) queue_.holders.store(held_by(origin), std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
  return acquired;
}

template <typename Words>
void BasicLockLine<Words>::keep_again(int origin) {
  queue_.streak = 0;
  auto& locked = control_.slots()[origin].locked;
  locked.store(by_keeper, std::memory_order_release);
  queue_.holders.store(kept_by(origin), std::memory_order_seq_cst);
  queue_.contended.exchange(0, std::memory_order_seq_cst);
  // Either we read that a request is in the queue, or that request reads contended = 0 and fences.
  if (queue_.line.load(std::memory_order_seq_cst) == 0) return;
  queue_.contended.store(1, std::memory_order_seq_cst);
  queue_.holders.store(held_by(origin), std::memory_order_seq_cst);
  locked.store(0, std::memory_order_release);
}

template <typename Words>
bool BasicLockLine<Words>::acquire_shared(int origin) {
  if (queue_.contended.load(std::memory_order_relaxed) != 0 &&
      queue_.shared_streak.load(std::memory_order_relaxed) < Words::long_streak) {
    if (!acquire_by_holders(origin, false)) return false;
    // Other holders may store at the same time: the number is approximate.
    queue_.shared_streak.store(queue_.shared_streak.load(std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
    return true;
  }
  const std::uint64_t number = queue_.phases.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t phase = uncounted_bit | (number << phase_shift & (uncounted_bit - 1));
  std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  while ((holders & (exclusive_bit | kept_bit | uncounted_bit)) == 0 ||
         holders == kept_by(origin)) {
    const std::uint64_t others = holders == kept_by(origin) ? 0 : holders;
    if (queue_.holders.compare_exchange_weak(holders, phase | others, std::memory_order_seq_cst)) {
      return acquire_by_word(origin, phase);
    }
  }
  return (holders & uncounted_bit) != 0 && acquire_by_word(origin, holders & ~counted);
}

template <typename Words>
bool BasicLockLine<Words>::confirm(int origin, std::uint64_t mode) {
  std::uint32_t waiting = 0;
  const bool entered = acquire_guard(waiting);
  // If the guard is lost, no rank takes the lock away any more.
  const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  // In any phase: the next owner of the guard reads our word.
  const bool ours = (mode & kept_bit) != 0 ? holders == mode : (holders & uncounted_bit) != 0;
  if (!ours) control_.slots()[origin].locked.store(0, std::memory_order_release);
  if (entered) release_guard(waiting);
  return ours;
}

template <typename Words>
bool BasicLockLine<Words>::any_uncounted() {
  for (const int rank : sharers_.ranks()) {
    if (control_.slots()[rank].locked.load(std::memory_order_seq_cst) == uncounted) return true;
  }
  return false;
}

template <typename Words>
bool BasicLockLine<Words>::acquire_or_revoke(int origin, bool exclusive) {
  std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
  if ((holders & kept_bit) != 0) {
    const std::uint64_t keeper = holders & ~kept_bit;
    return control_.slots()[keeper].locked.load(std::memory_order_seq_cst) != by_keeper &&
           queue_.holders.compare_exchange_strong(holders, exclusive ? held_by(origin) : 1,
                                                  std::memory_order_seq_cst);
  }
  if (exclusive && (holders & uncounted_bit) != 0) {
    if ((holders & counted) != 0 || any_uncounted() ||
        !queue_.holders.compare_exchange_strong(holders, held_by(origin),
                                                std::memory_order_seq_cst)) {
      return false;
    }
    queue_.shared_streak.store(0, std::memory_order_relaxed);
    return true;
  }
  return acquire_by_holders(origin, exclusive);
}

template <typename Words>
std::uint32_t BasicLockLine<Words>::let_join(std::vector<int>& woken) {
  std::uint32_t joined = 0;
  auto* link = &queue_.head;
  std::uint32_t last = 0;
  while (*link != 0) {
    const std::uint32_t name = *link;
    LockNode& node = nodes_[name - 1];
    if (node.joins == 0) {
      last = name;
      link = &node.next;
      continue;
    }
    if (!join()) break;
    *link = node.next;
    if (queue_.tail == name) queue_.tail = last;
    --queue_.joiners;
    ++joined;
    woken.push_back(static_cast<int>(name) - 1);
    node.state.store(LockNode::granted, std::memory_order_release);
  }
  return joined;
}

template <typename Words>
bool BasicLockLine<Words>::acquire(int origin, bool exclusive, bool joins) {
  if (try_acquire(origin, exclusive)) return true;
  LockNode& node = nodes_[origin];
  std::uint32_t waiting = 0;
  if (!acquire_guard(waiting)) {
    node.state.store(LockNode::waiting, std::memory_order_relaxed);
    return false;
  }
  // Follows the store of the guard in the total order of seq_cst operations: either we read that a
  // keeper has cleared `contended`, or the keeper reads our guard (keep_again()).
  if (queue_.contended.load(std::memory_order_seq_cst) == 0 || has_uncounted()) {
    queue_.contended.store(1, std::memory_order_seq_cst);
    sharers_.fence();
  }
  if ((waiting == 0 && acquire_or_revoke(origin, exclusive)) || (joins && join())) {
    release_guard(waiting);
    return true;
  }
  node.state.store(LockNode::waiting, std::memory_order_relaxed);
  node.exclusive = exclusive ? 1 : 0;
  node.joins = joins ? 1 : 0;
  queue_.joiners += node.joins;
  node.next = 0;
  node.has_piggyback = 0;
  const auto name = static_cast<std::uint32_t>(origin) + 1;
  if (queue_.tail != 0) {
    nodes_[queue_.tail - 1].next = name;
  } else {
    queue_.head = name;
  }
  queue_.tail = name;
  release_guard(waiting + 1);
  return false;
}

template <typename Words>
bool BasicLockLine<Words>::add_piggyback(int origin, const Piggyback& piggyback) {
  std::uint32_t waiting = 0;
  if (!acquire_guard(waiting)) return false;
  LockNode& node = nodes_[origin];
  const bool waits = node.state.load(std::memory_order_relaxed) == LockNode::waiting;
  if (waits) {
    node.piggyback = piggyback;
    node.has_piggyback = 1;
  }
  release_guard(waiting);
  return waits;
}

extern template class BasicLockLine<SharedWords>;
using LockLine = BasicLockLine<SharedWords>;

}  // namespace oriel
