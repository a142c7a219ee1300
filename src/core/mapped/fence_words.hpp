// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/epoch/epoch.hpp"
#include "core/lock/watched_word.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// What mapped ranks tell one another of fences (S1): each the number of the last call that it has
/// announced, and when a closing fence is over.
///
/// Few ranks store that number into one another's Slots. Of many, each stores it once, into the
/// Slot of its own that it would tell itself by, where peers look that have operations for it; and
/// a closing fence, which all have to enter, is counted by the first rank's FenceTree.
///
/// A peer that depends on it and has looked in vain watches it (WatchedWord).
class FenceWords {
 public:
  /// `announced_each`: Limits::announced_each.
  FenceWords(Region& region, int announced_each)
      : region_(region), few_(!counted(region, announced_each)) {}

  /// Whether closing fences are counted: all ranks have to agree on which calls close.
  static bool counted(const Region& region, int announced_each) {
    return region.mapped_ranks().size() > static_cast<std::size_t>(announced_each);
  }

  void announce(std::uint64_t call);
  /// Acquire pairs with the release in announce(): all operations of that rank's earlier fence
  /// epochs are complete here.
  bool announced(int rank, std::uint64_t call) {
    return word_of(rank).load(std::memory_order_acquire) >= call;
  }
  /// The target's announcement of `call`, which the target's operations wait for: the rank is woken
  /// when it comes.
  bool watch_announced(Target& target, std::uint64_t call);
  /// The closing fence where all ranks are mapped: announces it, once, and looks whether all have.
  bool advance_closing(Epoch& epoch);

  /// After the last fence of the window: true when no rank stores or looks at our words any more.
  bool leave();

  /// Where not all ranks are mapped (CountedFence): the last fence that we have ended.
  void note_ended(std::uint64_t call) { ended_ = call; }
  /// The rank has ended it as well: what others have sent it before is in its memory.
  bool ended_by(int rank) { return ended_ == 0 || announced(rank, ended_); }
  /// The same, of a target whose operations wait for that.
  bool watch_ended(Target& target) { return ended_ == 0 || watch_announced(target, ended_); }

 private:
  std::atomic<std::uint64_t>& word_of(int rank) {
    return few_ ? region_.slot_from(rank).fence : region_.member(rank).control->slots()[rank].fence;
  }
  /// Of many ranks: what this one announces.
  WatchedWord watched(int rank) { return {word_of(rank), region_.member(rank).control->watchers}; }
  void wake_all();

  Region& region_;
  bool few_;
  std::uint64_t ended_ = 0;
  bool left_ = false;
  std::uint64_t closing_ = 0;  // closing fences that we have come to, where they are counted
};

}  // namespace oriel
