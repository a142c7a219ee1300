// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>

namespace oriel {

/// A buddy allocator: divides a range of addresses into blocks whose sizes are powers of two, at
/// multiples of their size. It stores nothing in the blocks. The order is the logarithm of a size.
class Buddies {
 public:
  static constexpr int smallest = 6;  // a cache line, so that blocks share none
  static constexpr int largest = 47;  // more than the address space of a process

  /// Free blocks of an order below `lasting` are not merged, so that later requests of that order
  /// need not split one.
  explicit Buddies(int lasting) : lasting_(lasting) {}

  static int order_of(std::uint64_t bytes) {
    return bytes <= std::uint64_t{1} << smallest ? smallest
                                                 : static_cast<int>(std::bit_width(bytes - 1));
  }

  /// Allocates a block: of the smallest free blocks that suffice, the one with the lowest address.
  /// Returns its address.
  std::optional<std::uint64_t> take(int order) {
    int from = order;
    while (from <= largest && free(from).empty()) ++from;
    if (from > largest) return std::nullopt;
    const std::uint64_t block = *free(from).begin();
    free(from).erase(free(from).begin());
    for (; from > order; --from) free(from - 1).insert(block + (std::uint64_t{1} << (from - 1)));
    return block;
  }

  /// Frees a block from take(), or adds a new one.
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
