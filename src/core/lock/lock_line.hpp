// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/lock/asymmetric.hpp"
#include "core/lock/control.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

/// The lock of one target: first come first served, readers together, taken and handed on by the
/// origins alone. The target takes no part (E12, and "a rank that computes delays nobody").
///
///   LockQueue::holders  bit 63: held exclusively by the origin in the lower bits; bit 62: kept by
///                       the origin in the lower bits, who holds it while its Slot::locked is 1;
///                       otherwise the number of shared holders in the lower half, and bit 61:
///                       besides those counted, each rank of the node holds it shared while its
///                       Slot::locked is 2. The bits between them are the phase, a number for each
///                       time that bit 61 is set
///   LockQueue::line     upper half: 1 + the rank that has the guard, or 0; lower half: requests
///                       waiting
///
/// Nobody in line: one compare-exchange takes the lock, one exchange gives it back. The first
/// origin to take it exclusively keeps it until another one comes: it takes it and gives it back by
/// a store to a word of its own. So do those that take it shared, all of them, until somebody wants
/// it exclusively: they are not counted. An origin that does not get the lock so takes the guard
/// and lines up; who has given it back while there is a line takes the guard and hands it on. Only
/// the guard's owner changes the list, takes a kept lock away, or takes exclusively what may have
/// uncounted holders.
///
///     keeper, or uncounted holder           another origin
///     K1  locked = 1, 2 or 0                A1  line != 0 (the guard)
///     K2  look at `line`                    A2  contended = 1, fence of all peers
///     K3  taking it: look at `holders`      A3  look at `holders` and `locked`
///                                           A4  locked was 0: change `holders`; the line may go
///
/// Either K2 sees A1 or A3 sees K1 (see store_before_look()). If K2 comes after the line has gone
/// again, K3 sees A4. So a keeper that takes the lock, sees no line, and then is the keeper still,
/// has it; and one that gives it back and sees no line has been seen by whoever lines up. If it
/// sees a line, the guard decides. Likewise an uncounted holder, who begins only where there is no
/// line, so that exclusive requests are not overtaken for ever.
///
/// Of a keeper only the first to line up pays for A2, who sets `contended`: the keeper that there
/// may be sees a line until it has lost the lock, and nobody becomes a keeper while `contended` is
/// set, until an origin has had the lock for itself for long. A new keeper looks at `contended`,
/// or having cleared it at `line`, after it has said so. Where there may be uncounted holders every
/// request pays that lines up. A request that lined up before the first of them has said so is seen
/// by all:
/// A1 and a look at `holders` that found nothing, then the change of `holders`, then K2. That is
/// why K3 asks for the phase that the uncounted holder saw before K1: its K2 then came after the
/// change. When an exclusive request has taken the lock from uncounted holders, the next
/// `long_streak` shared ones are counted.
///
/// Invariants (guard free): an exclusive holder excludes every other holder; a line implies that
/// somebody holds the lock or is about to hand it on; who waits is granted in the order of arrival,
/// but for those that join.
/// Acquire: every taking compare-exchange, the load that sees Slot::locked cleared, and the one
/// that sees LockNode::state. Release: every store that gives back, and the store of
/// LockNode::state. So what one holder wrote into the window is seen by the next.
///
/// Death: the guard of a process that was killed with it is lost, and with it the line, which may
/// be torn. Nobody waits for such a guard for ever: a request is then one that is never granted, a
/// lock given back is not handed on, a keeper stays one. Who waits to be granted the lock looks now
/// and then whether all live (Epochs::lost_peer), as it has to for whoever holds the lock.
template <typename Words>
class BasicLockLine {
 public:
  using Sharers = typename Words::Sharers;
  using LockNode = BasicLockNode<Words>;

  BasicLockLine(BasicControlBlock<Words>& control, Sharers& sharers)
      : control_(control), queue_(control.lock), nodes_(control.nodes()), sharers_(sharers) {}

  /// Takes the lock if nobody holds it against us and nobody is in line.
  bool try_acquire(int origin, bool exclusive) {
    if (exclusive && keeps(origin)) [[likely]]
      return take_by_word(origin, kept_by(origin));
    if (queue_.line.load(std::memory_order_seq_cst) != 0) return false;
    if (!exclusive) {
      // An origin of another node, for which its target acts, is counted.
      if (static_cast<std::uint32_t>(origin) != sharers_.self()) return take(origin, false);
      const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
      return (holders & uncounted_bit) != 0 ? take_by_word(origin, holders & ~counted)
                                            : take_first(origin);
    }
    if (queue_.contended.load(std::memory_order_relaxed) == 0) return keep(origin);
    if (!take(origin, true)) return false;
    count(origin);
    return true;
  }

  /// Gives the lock back. False: somebody is in line, hand_on() must follow.
  bool release(int origin, bool exclusive) {
    auto& locked = control_.slots()[origin].locked;
    if (locked.load(std::memory_order_relaxed) != 0) [[likely]] {
      store_before_look<Words>(locked, 0, sharers_.asymmetric());
    } else if (exclusive) {
      queue_.holders.exchange(0, std::memory_order_seq_cst);
    } else {
      queue_.holders.fetch_sub(1, std::memory_order_seq_cst);
    }
    return queue_.line.load(std::memory_order_seq_cst) == 0;
  }

  /// Takes the lock (true) or puts `origin` at the end of the line (false); LockNode::state of the
  /// origin then says when it has been granted: never, if the guard is lost. `joins`: a shared
  /// request that does not wait behind exclusive ones while others hold the lock shared. A lock_all
  /// epoch takes its locks one by one, as it needs them: two of them would wait for one another,
  /// each behind a request that waits for the other one to give a lock back. Exclusive requests
  /// wait as long as such epochs overlap.
  bool acquire(int origin, bool exclusive, bool joins);

  /// The origin that holds it exclusively at this moment; -1: none. It may have given it back when
  /// this returns.
  int exclusive_holder() const {
    const std::uint64_t holders = queue_.holders.load(std::memory_order_seq_cst);
    if ((holders & (exclusive_bit | kept_bit)) == 0) return -1;
    const auto origin = static_cast<int>(holders & counted);
    const bool holds = (holders & exclusive_bit) != 0 ||
                       control_.slots()[origin].locked.load(std::memory_order_seq_cst) == by_keeper;
    return holds ? origin : -1;
  }

  /// Leaves a piggybacked operation with the waiting request of `origin`; false if the lock was
  /// granted meanwhile.
  bool leave(int origin, const Piggyback& piggyback);

  /// Grants the lock to those in line as far as it is free. Piggybacked operations are run, one
  /// after the other as the lock comes round to them, by `run(piggyback)`, false if that fails; the
  /// origins that something has happened for are appended to `woken`.
  template <typename Run>
  void hand_on(std::vector<int>& woken, Run&& run) {
    std::uint32_t waiting = 0;
    if (!enter(waiting)) return;
    while (queue_.head != 0) {
      LockNode& node = nodes_[queue_.head - 1];
      const bool exclusive = node.exclusive != 0;
      const int origin = static_cast<int>(queue_.head) - 1;
      if (!take_or_take_away(origin, exclusive)) break;
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
      // Last look at the node: its origin may reuse it as soon as it sees this.
      node.state.store(state, std::memory_order_release);
    }
    if (queue_.joiners != 0) waiting -= let_join(woken);
    leave_guard(waiting);
  }

 private:
  static constexpr std::uint64_t exclusive_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kept_bit = std::uint64_t{1} << 62;
  static constexpr std::uint64_t uncounted_bit = std::uint64_t{1} << 61;
  static constexpr unsigned phase_shift = 32;  // of the phase below uncounted_bit
  static constexpr std::uint64_t counted = (std::uint64_t{1} << phase_shift) - 1;
  // Values of Slot::locked, which is 0 while its origin does not hold the lock by it. All stores
  // are release: whichever is seen, what was read under the lock before has been read.
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
  /// Whether an origin may hold the lock by its own word. `mode`: kept_by(origin), or uncounted_bit
  /// and the phase.
  static bool permits(std::uint64_t holders, std::uint64_t mode) {
    return (mode & kept_bit) != 0 ? holders == mode : (holders & ~counted) == mode;
  }
  /// Takes the lock by the origin's own word, in a mode that permitted it a moment ago.
  bool take_by_word(int origin, std::uint64_t mode) {
    const std::uint32_t value = (mode & kept_bit) != 0 ? by_keeper : uncounted;
    store_before_look<Words>(control_.slots()[origin].locked, value, sharers_.asymmetric());
    const bool lined_up = queue_.line.load(std::memory_order_seq_cst) != 0;
    // Somebody may have lined up, taken the lock away and left the line before our store. The same
    // phase: it began before our look at the line.
    if (!lined_up && permits(queue_.holders.load(std::memory_order_seq_cst), mode)) [[likely]]
      return true;
    return confirm(origin, mode);
  }

  /// Takes a free lock, and keeps it as long as nobody has lined up.
  bool keep(int origin);
  /// Takes the lock shared where there are no uncounted holders yet: as the first one, if it may.
  bool take_first(int origin);
  /// The exclusive holder that has not had to line up.
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
  /// After the store to Slot::locked, where there is a line or the mode has gone: decides with the
  /// guard whether the origin holds the lock, and clears the word if not.
  bool confirm(int origin, std::uint64_t mode);
  /// Takes a lock that is free and kept by nobody.
  bool take(int origin, bool exclusive) {
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
  /// With the guard: takes the lock beside those that hold it shared.
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
  /// With the guard: grants the lock to those in line that join, if it is held shared now. How
  /// many.
  std::uint32_t let_join(std::vector<int>& woken);
  /// With the guard: takes a free lock, also from an origin that keeps it, or exclusively from
  /// uncounted holders whose words are all clear.
  bool take_or_take_away(int origin, bool exclusive);
  /// With the guard: whether somebody holds the lock shared and is not counted.
  bool any_uncounted();

  /// Takes the guard; tells how many wait. False: a process has ended with the guard.
  bool enter(std::uint32_t& waiting);
  void leave_guard(std::uint32_t waiting) { queue_.line.store(waiting, std::memory_order_release); }

  BasicControlBlock<Words>& control_;
  BasicLockQueue<Words>& queue_;
  LockNode* nodes_;
  Sharers& sharers_;
};

extern template class BasicLockLine<SharedWords>;
using LockLine = BasicLockLine<SharedWords>;

}  // namespace oriel
