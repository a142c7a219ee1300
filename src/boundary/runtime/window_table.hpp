// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oriel::boundary {

struct BoundWindow;

/// The windows that we carry, by the host's handle: open addressing, and in front of it the window
/// that was asked for last, which is nearly always the one asked for next.
class WindowTable {
 public:
  BoundWindow* find(std::uint64_t key) {
    if (key == last_key_) [[likely]]
      return last_;
    return find_in_table(key);
  }
  void insert(std::uint64_t key, BoundWindow* window);
  /// Only if the handle still means this window: the host may have given it to another thread's.
  void erase(std::uint64_t key, const BoundWindow* window);

 private:
  struct Entry {
    std::uint64_t key = 0;
    BoundWindow* window = nullptr;
  };
  BoundWindow* find_in_table(std::uint64_t key);
  std::size_t place(std::uint64_t key) const {
    // Fibonacci hashing: handles differ in their low bits (MPICH) or in their middle ones
    // (pointers).
    return (key * 0x9e3779b97f4a7c15u >> 32) & (entries_.size() - 1);
  }
  void put(std::uint64_t key, BoundWindow* window);

  // No handle has this value: 32-bit handles are zero-extended, and no object lies at the top.
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  std::uint64_t last_key_ = no_key;
  BoundWindow* last_ = nullptr;
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace oriel::boundary
