// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/shared_words.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/fence.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// A number that one rank announces once for all readers, and the number of ranks that watch it.
/// Ranks that do not watch cost the announcer nothing.
///
///     announcer                          watcher, after it has read `number` in vain
///     N1  number = call (exchange)       W1  watchers + 1 (fetch_add)
///     N2  read `watchers`                W2  read `number`
///
/// Either N2 reads W1, and the announcer rings all that sleep, or W2 reads N1. If a peer is killed
/// while it watches, each later announcement reads every doorbell.
template <typename Words>
class BasicWatchedWord {
 public:
  using Number = typename Words::template Atomic<std::uint64_t>;
  using Watchers = typename Words::template Atomic<std::uint32_t>;

  BasicWatchedWord(Number& number, Watchers& watchers) : number_(number), watchers_(watchers) {}

  /// True if a rank watches: the caller must then wake all that sleep. Releases the caller's
  /// earlier stores with the number.
  bool announce(std::uint64_t number) {
    number_.exchange(number, std::memory_order_seq_cst);
    return watchers_.load(std::memory_order_seq_cst) != 0;
  }
  bool announced(std::uint64_t number) const {
    return number_.load(std::memory_order_acquire) >= number;
  }
  /// Called when `number` was not announced. True if it has been announced meanwhile; then this
  /// rank does not watch.
  bool watch(std::uint64_t number) {
    watchers_.fetch_add(1, std::memory_order_seq_cst);
    if (number_.load(std::memory_order_seq_cst) < number) return false;
    unwatch();
    return true;
  }
  void unwatch() { watchers_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  Number& number_;
  Watchers& watchers_;
};

using WatchedWord = BasicWatchedWord<SharedWords>;

/// The words by which mapped ranks announce fences to each other (S1): each rank the number of the
/// last call that it has announced, and when a closing fence is over.
///
/// If the ranks are few, each stores its number into its Slot in every other rank's control block.
/// If they are many, each stores it once, into its own Slot in its own control block, and peers
/// that have operations for that rank read it there; closing fences, which all ranks must enter,
/// are counted by the first rank's FenceTree.
///
/// A peer that waits for an announcement watches the word (WatchedWord).
class FenceWords final : public Fence {
 public:
  /// `announced_each`: Limits::announced_each.
  FenceWords(Region& region, int announced_each)
      : Fence(region.mapped_ranks().size() > static_cast<std::size_t>(announced_each), true),
        region_(region) {}

  void open(std::uint64_t call, bool to_announce) override {
    if (to_announce) announce(call);
  }
  bool end(Epoch& epoch) override;
  void find_late(std::uint64_t closing_call, std::vector<int>& late) override;

  void announce(std::uint64_t call);
  /// Returns whether the rank has announced `call`. Acquire pairs with the release in announce():
  /// all operations of that rank's earlier fence epochs are complete here.
  bool announced(int rank, std::uint64_t call) {
    return word_of(rank).load(std::memory_order_acquire) >= call;
  }
  /// As announced(), for a target whose operations wait for the announcement: this rank is woken
  /// when it is made.
  bool watch_announced(Target& target, std::uint64_t call);
  /// After the last fence of the window. True if no rank stores to or reads our words any more.
  bool depart();

  /// Called by CountedFence, if not all ranks are mapped, when this rank has ended fence `call`.
  void set_ended(std::uint64_t call) { ended_ = call; }
  /// Returns whether the rank has ended this rank's last such fence as well, so that all earlier
  /// operations of other ranks are in its memory.
  bool ended_by(int rank) { return ended_ == 0 || announced(rank, ended_); }
  /// As ended_by(), for a target whose operations wait for that; see watch_announced().
  bool watch_ended(Target& target) { return ended_ == 0 || watch_announced(target, ended_); }

 private:
  std::atomic<std::uint64_t>& word_of(int rank) {
    return few() ? region_.slot_from(rank).fence
                 : region_.member(rank).control->slots()[rank].fence;
  }
  /// If the ranks are many: the word in which rank `rank` announces.
  WatchedWord watched(int rank) { return {word_of(rank), region_.member(rank).control->watchers}; }
  void wake_all();
  bool few() const { return !counted(); }

  Region& region_;
  std::uint64_t ended_ = 0;
  bool departed_ = false;
  std::uint64_t closing_ = 0;  // counted closing fences that this rank has entered
};

}  // namespace oriel
