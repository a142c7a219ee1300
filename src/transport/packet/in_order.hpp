// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace oriel {

/// Restores the order of items that one sender has numbered from 1. The numbers wrap.
template <typename Item>
class InOrder {
 public:
  enum class Turn : std::uint8_t {
    now,    // the item is the next one
    later,  // the item is kept until its turn
    never   // the item has arrived before, or its number is invalid
  };

  /// Offers an item. It counts as taken if its turn is `now`, is moved from if its turn is `later`,
  /// and is left alone if its turn is `never`.
  Turn offer(std::uint32_t sequence, Item& item) {
    const std::uint32_t ahead = sequence - taken_;  // very large for an old number
    if (ahead == 1) {
      ++taken_;
      return Turn::now;
    }
    if (ahead == 0 || ahead > most_ahead ||
        std::ranges::find(early_, sequence, &Early::sequence) != early_.end()) {
      return Turn::never;
    }
    early_.push_back({sequence, std::move(item)});
    return Turn::later;
  }
  /// The kept item whose turn it is, if any.
  std::optional<Item> next() {
    const auto found = std::ranges::find(early_, taken_ + 1, &Early::sequence);
    if (found == early_.end()) return std::nullopt;
    ++taken_;
    std::optional<Item> item(std::move(found->item));
    early_.erase(found);
    return item;
  }
  /// Removes and returns all kept items.
  std::vector<Item> drop() {
    std::vector<Item> dropped;
    for (Early& early : std::exchange(early_, {})) dropped.push_back(std::move(early.item));
    return dropped;
  }
  /// The last number taken.
  std::uint32_t taken() const { return taken_; }

 private:
  /// Few items ever arrive before one that was sent earlier. This also limits the memory that
  /// invalid items can take.
  static constexpr std::uint32_t most_ahead = 512;

  struct Early {
    std::uint32_t sequence;
    Item item;
  };

  std::uint32_t taken_ = 0;
  std::vector<Early> early_;
};

}  // namespace oriel
