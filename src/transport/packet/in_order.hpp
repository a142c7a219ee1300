// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace oriel {

/// Brings what one sender has numbered, from 1, back into the order of its numbers, which wrap.
template <typename Item>
class InOrder {
 public:
  enum class Turn : std::uint8_t {
    now,    // it is the next one
    later,  // kept until its turn
    never   // it has come before, or is made up
  };

  /// Takes the item where its turn is not `never`, moves it where it is `later`.
  Turn offer(std::uint32_t sequence, Item& item) {
    const std::uint32_t ahead = sequence - taken_;  // huge for an old one
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
  /// One that was kept and whose turn it is.
  std::optional<Item> next() {
    const auto found = std::ranges::find(early_, taken_ + 1, &Early::sequence);
    if (found == early_.end()) return std::nullopt;
    ++taken_;
    std::optional<Item> item(std::move(found->item));
    early_.erase(found);
    return item;
  }
  /// What is kept is given up.
  std::vector<Item> drop() {
    std::vector<Item> dropped;
    for (Early& early : std::exchange(early_, {})) dropped.push_back(std::move(early.item));
    return dropped;
  }
  /// The last number taken.
  std::uint32_t taken() const { return taken_; }

 private:
  /// Few are ever told of before one that was sent earlier; a limit for what is not one of ours.
  static constexpr std::uint32_t most_ahead = 512;

  struct Early {
    std::uint32_t sequence;
    Item item;
  };

  std::uint32_t taken_ = 0;
  std::vector<Early> early_;
};

}  // namespace oriel
