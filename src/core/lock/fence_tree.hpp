// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// How many ranks of a node have come to a closing fence, for more of them than tell one another
/// each by itself. Ranks are counted in groups of `radix`; who completes a group counts for it in
/// the group of groups, and who completes the last one says that all have come. So a rank stores
/// at most ceil(log n) words, most ranks one, waits for one word, and whoever has come needs not be
/// looked after any more: it may compute while others arrive.
///
/// Closing fences are numbered from 1, and a rank comes to one after the one before is over, so the
/// count of a group of k ranks that are all here is k times the number. Everybody counts, by
/// acquire-release, and `over` is stored with release by the last: what any rank wrote before it
/// came is seen by whoever has read `over`.
///
/// At the end every rank leaves: until all have, some may still be looking at `over`.
///
/// In shared memory, zeroed: `over`, `left`, then the groups by level, each word in a line of its
/// own.
/// A template over its words, for a checker, which has smaller groups.
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

  /// Rank `rank` has come to the fence; true if it was the last.
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

  /// The words, for a checker: by their places.
  auto& word(std::size_t place) { return words_[place].count; }

  /// A rank does not look any more.
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
