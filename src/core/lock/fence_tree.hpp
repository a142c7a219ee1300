// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// Counts the ranks of a node that have arrived at a closing fence, if there are more than announce
/// it to each other individually. Ranks are counted in groups of `radix`. The rank that completes a
/// group counts for it in the next level; the rank that completes the last group stores `over`. A
/// rank thus adds to at most ceil(log n) words, most ranks to one, and waits for one word. A rank
/// that has arrived has nothing left to do: it may compute while others arrive.
///
/// Closing fences are numbered from 1. A rank arrives at a fence after the fence before is over, so
/// the count of a complete group of k ranks is k times the number. Counts are added with
/// acquire-release, and the last rank stores `over` with release: a rank that has read `over` sees
/// what every rank wrote before it arrived.
///
/// When the window is freed, every rank leaves: until all have left, some may still read `over`.
///
/// In shared memory, zeroed: `over`, `left`, then the groups by level, each word in a cache line of
/// its own. A template over its words, for a checker, which has smaller groups.
template <typename Words, std::size_t radix>
class BasicFenceTree {
 public:
  BasicFenceTree(void* memory, std::size_t ranks)
      : words_(static_cast<Word*>(memory)), ranks_(ranks) {}

  static constexpr std::size_t bytes(std::size_t ranks) {
    std::size_t words = first_group;
    for (std::size_t members = ranks; members > 1;) {
      members = groups(members);
      words += members;
    }
    return words * sizeof(Word);
  }

  /// Called when rank `rank` arrives at the fence. True if it is the last one.
  bool arrive(std::size_t rank, std::uint64_t fence) {
    Word* level = words_ + first_group;
    std::size_t place = rank;
    for (std::size_t members = ranks_; members > 1; members = groups(members)) {
      const std::size_t group = place / radix;
      const std::size_t size = members - group * radix < radix ? members - group * radix : radix;
      const std::uint64_t here = level[group].count.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (here != size * fence) return false;
      level += groups(members);
      place = group;
    }
    words_[over_word].count.store(fence, std::memory_order_release);
    return true;
  }
  bool over(std::uint64_t fence) const {
    return words_[over_word].count.load(std::memory_order_acquire) >= fence;
  }

  /// For a checker: a word by its index.
  auto& word(std::size_t place) { return words_[place].count; }

  /// Called when this rank reads `over` no more.
  void leave() { words_[left_word].count.fetch_add(1, std::memory_order_release); }
  bool all_left() const {
    return words_[left_word].count.load(std::memory_order_acquire) == ranks_;
  }

 private:
  struct alignas(cache_line) Word {
    typename Words::template Atomic<std::uint64_t> count{0};
  };

  static constexpr std::size_t over_word = 0;
  static constexpr std::size_t left_word = 1;
  static constexpr std::size_t first_group = 2;

  static constexpr std::size_t groups(std::size_t members) { return (members + radix - 1) / radix; }

  Word* words_;
  std::size_t ranks_;
};

using FenceTree = BasicFenceTree<SharedWords, 16>;

}  // namespace oriel
