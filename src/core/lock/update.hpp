// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/asymmetric.hpp"
#include "core/lock/control.hpp"
#include "core/lock/sharers.hpp"
#include "core/lock/updater.hpp"

namespace oriel {

/// An update of a rank's window memory by an accumulate. While it lives, either nobody else updates
/// that memory (alone(): plain loads and stores do), or everybody who does updates single elements
/// by CPU atomics.
///
/// ControlBlock::updater says which of the two holds; its values are
///   nobody    no update has been made yet
///   everybody single elements by CPU atomics
///   alone + u updater u alone (see Updater), until somebody else wants to update
///   changing + r rank r is the only one to change the word now
/// The updater's word (Slot::updating, ThreadLine::updating) is the target's name while it is
/// within an update. The usual update is the owner's, next one by the same: two stores to a line of
/// its own and a load of a word that does not change.
///
///     updater                              changer
///     U1  updating = target's name         C1  updater = changing (compare-exchange)
///     U2  look at `updater`                C2  fence of all peers
///     U3  update the window                C3  for each peer and each of its threads: wait while
///     U4  updating = 0 (release)               updating is this name (acquire)
///                                          C4  updater = its new value (release)
///
/// Invariant: at most one updater is between U2 and U4 having read `alone + itself`, and then no
/// one is there having read `everybody`. Either the changer sees U1 in C3 and waits, or the updater
/// sees C1 in U2 and turns back (U1 is kept before U2 by C2: see store_before_look()). U4 to C3 and
/// C4 to U2 carry what was written from one holder to the next.
///
/// A changer has the lock of its process. A thread without that only looks (LightUpdate): it turns
/// back where it would have to change the word, or wait.
///
/// Death: a rank killed between U1 and U4 is awaited in C3 no longer than it lives, and the changer
/// puts the old value back; one killed between C1 and C4 leaves `changing`. So every update that
/// would have to wait for it ends as lost().
template <typename Words>
class BasicUpdate {
 public:
  using Sharers = typename Words::Sharers;
  using Updater = BasicUpdater<Words>;

  /// `alone`: the update is not made of single elements that CPU atomics can update, or so large
  /// that asking for the right costs less than the atomics. `thread`: the line of the calling
  /// thread, if it has one. Waits for updates under way, for nothing else, and not for those of the
  /// dead.
  BasicUpdate(BasicControlBlock<Words>& target, Sharers& sharers, bool alone,
              BasicThreadLine<Words>* thread = nullptr)
      : self_(target, sharers.self(), thread) {
    if (enter(target, self_, sharers) != alone_by(self_)) [[unlikely]]
      right_ = ask(target, sharers, alone);
  }
  ~BasicUpdate() { self_.word().store(0, std::memory_order_release); }
  BasicUpdate(const BasicUpdate&) = delete;
  BasicUpdate& operator=(const BasicUpdate&) = delete;

  bool alone() const { return right_ == all; }
  /// Nothing may be updated: a process was killed that would have to let go first.
  bool lost() const { return right_ >= first_lost; }
  int lost_rank() const { return static_cast<int>(right_ - first_lost); }

  // Of LightUpdate, too.
  static constexpr std::uint32_t everybody = 1;
  static std::uint32_t alone_by(const Updater& one) { return first_alone + one.number(); }
  static std::uint32_t enter(const BasicControlBlock<Words>& target, const Updater& one,
                             const Sharers& sharers) {
    store_before_look<Words>(one.word(), target.name, sharers.asymmetric());
    return target.updater.load(std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint32_t nobody = 0;
  static constexpr std::uint32_t first_alone = 2;
  static constexpr std::uint32_t changing = std::uint32_t{1} << 31;

  // What this update may do; `first_lost` + the rank that was lost: nothing.
  static constexpr std::uint32_t all = 0;
  static constexpr std::uint32_t elements = 1;
  static constexpr std::uint32_t first_lost = 2;

  std::uint32_t ask(BasicControlBlock<Words>& target, Sharers& sharers, bool alone);
  static std::uint32_t await_others(BasicControlBlock<Words>& target, Sharers& sharers);

  Updater self_;
  std::uint32_t right_ = all;
};

extern template class BasicUpdate<SharedWords>;
using Update = BasicUpdate<SharedWords>;

}  // namespace oriel
