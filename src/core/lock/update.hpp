// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/asymmetric.hpp"
#include "core/lock/control.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

/// An origin's update of a rank's window memory by an accumulate. While it lives, either nobody
/// else updates that memory (alone(): plain loads and stores do), or everybody who does updates
/// single elements by CPU atomics.
///
/// ControlBlock::updater says which of the two holds; its values are
///   nobody    no update has been made yet
///   everybody single elements by CPU atomics; the threads of a process without its lock, too
///             (ThreadUpdate)
///   alone + r rank r alone: it keeps the right until somebody else wants to update, or a single
///             element if it has threads that update without the lock
///   changing + r rank r is the only one to change the word now
/// Slot::updating is 1 while the origin is within an update. The usual update is the owner's, next
/// one by the same rank: two stores to a line of its own and a load of a word that does not change.
///
///     updater                              changer
///     U1  updating = 1                     C1  updater = changing (compare-exchange)
///     U2  look at `updater`                C2  fence of all peers
///     U3  update the window                C3  for each peer and its threads: wait while it is
///                                              updating (acquire)
///     U4  updating = 0 (release)           C4  updater = its new value (release)
///
/// Invariant: at most one origin is between U2 and U4 having read `alone + itself`, and then no one
/// is there having read `everybody`. Either the changer sees U1 in C3 and waits, or the updater
/// sees C1 in U2 and turns back (U1 is kept before U2 by C2: see store_before_look()). U4 to C3 and
/// C4 to U2 carry what was written from one holder to the next.
///
/// Death: a rank killed between U1 and U4 is awaited in C3 no longer than it lives, and the changer
/// puts the old value back; one killed between C1 and C4 leaves `changing`. So every update that
/// would have to wait for it ends as lost().
template <typename Words>
class BasicUpdate {
 public:
  using Sharers = typename Words::Sharers;

  /// `alone`: the update is not made of single elements that CPU atomics can update, or so large
  /// that asking for the right costs less than the atomics. Waits for updates under way, for
  /// nothing else, and not for those of the dead.
  BasicUpdate(BasicControlBlock<Words>& target, Sharers& sharers, bool alone)
      : slot_(target.slots()[sharers.self()]) {
    if (enter(target, sharers) != alone_by(sharers) || (!alone && sharers.threaded())) [[unlikely]]
      right_ = ask(target, sharers, alone);
  }
  ~BasicUpdate() { slot_.updating.store(0, std::memory_order_release); }
  BasicUpdate(const BasicUpdate&) = delete;
  BasicUpdate& operator=(const BasicUpdate&) = delete;

  bool alone() const { return right_ == all; }
  /// Nothing may be updated: a process was killed that would have to let go first.
  bool lost() const { return right_ >= first_lost; }
  int lost_rank() const { return static_cast<int>(right_ - first_lost); }

  // Values of ControlBlock::updater.
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t everybody = 1;

 private:
  static constexpr std::uint32_t first_alone = 2;
  static constexpr std::uint32_t changing = std::uint32_t{1} << 31;

  // What this update may do; `first_lost` + the rank that was lost: nothing.
  static constexpr std::uint32_t all = 0;
  static constexpr std::uint32_t elements = 1;
  static constexpr std::uint32_t first_lost = 2;

  static std::uint32_t alone_by(const Sharers& sharers) { return first_alone + sharers.self(); }
  std::uint32_t enter(BasicControlBlock<Words>& target, const Sharers& sharers) {
    store_before_look<Words>(slot_.updating, 1, sharers.asymmetric());
    return target.updater.load(std::memory_order_seq_cst);
  }
  std::uint32_t ask(BasicControlBlock<Words>& target, Sharers& sharers, bool alone);
  static std::uint32_t await_others(BasicControlBlock<Words>& target, Sharers& sharers);

  BasicSlot<Words>& slot_;
  std::uint32_t right_ = all;
};

extern template class BasicUpdate<SharedWords>;
using Update = BasicUpdate<SharedWords>;

}  // namespace oriel
