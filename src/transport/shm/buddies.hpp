// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>

namespace oriel {

/// Divides a range of numbers into blocks whose sizes are powers of two and which lie at multiples
/// of their size; nothing is stored in the blocks. Sizes go by their logarithm, the order.
class Buddies {
 public:
  static constexpr int smallest = 6;  // a cache line: blocks share none
  static constexpr int largest = 47;  // more than an address space has

  /// Halves below `lasting` are not put together again: who needs one finds it at once.
  explicit Buddies(int lasting) : lasting_(lasting) {}

  static int order_of(std::uint64_t bytes) {
    return bytes <= std::uint64_t{1} << smallest ? smallest
                                                 : static_cast<int>(std::bit_width(bytes - 1));
  }

  /// A free block, the lowest of the smallest that will do; its address.
  std::optional<std::uint64_t> take(int order) {
    int from = order;
    while (from <= largest && free(from).empty()) ++from;
    if (from > largest) return std::nullopt;
    const std::uint64_t block = *free(from).begin();
    free(from).erase(free(from).begin());
    for (; from > order; --from) free(from - 1).insert(block + (std::uint64_t{1} << (from - 1)));
    return block;
  }

  /// Makes a block free: one that was taken, or a new one.
  void give(std::uint64_t block, int order) {
    for (; order >= lasting_ && order < largest; ++order) {
      const std::uint64_t buddy = block ^ (std::uint64_t{1} << order);
      if (free(order).erase(buddy) == 0) break;
      block &= ~(std::uint64_t{1} << order);
    }
    free(order).insert(block);
  }

 private:
  std::set<std::uint64_t>& free(int order) {
    return free_[static_cast<std::size_t>(order - smallest)];
  }

  int lasting_;
  std::array<std::set<std::uint64_t>, largest - smallest + 1> free_;
};

}  // namespace oriel
