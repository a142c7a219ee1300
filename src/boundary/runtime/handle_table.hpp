// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oriel::boundary {

/// What of ours stands behind the host's handles: open addressing, and in front of it the one that
/// was asked for last, which is nearly always the one asked for next.
template <typename Object>
class HandleTable {
 public:
  Object* find(std::uint64_t key) {
    if (key == last_key_) [[likely]]
      return last_;
    return find_in_table(key);
  }

  void insert(std::uint64_t key, Object* object) {
    last_key_ = no_key;
    if (2 * (used_ + 1) > entries_.size()) {
      std::vector<Entry> old =
          std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 16 : 2 * entries_.size()));
      used_ = 0;
      for (const Entry& entry : old) {
        if (entry.object != nullptr) put(entry.key, entry.object);
      }
    }
    put(key, object);
  }

  /// Only if the handle still means this object: the host may have given it to another thread's.
  void erase(std::uint64_t key, const Object* object) {
    last_key_ = no_key;
    if (find_in_table(key) != object) return;
    last_key_ = no_key;
    // What follows the gap up to the next one may have been pushed past it: put it in again.
    std::size_t i = place(key);
    while (entries_[i].key != key) i = next(i);
    entries_[i] = {};
    --used_;
    for (i = next(i); entries_[i].object != nullptr; i = next(i)) {
      const Entry moved = std::exchange(entries_[i], {});
      --used_;
      put(moved.key, moved.object);
    }
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    Object* object = nullptr;
  };

  Object* find_in_table(std::uint64_t key) {
    if (used_ == 0) return nullptr;
    for (std::size_t i = place(key);; i = next(i)) {
      Entry& entry = entries_[i];
      if (entry.object == nullptr) return nullptr;
      if (entry.key == key) {
        last_key_ = key;
        return last_ = entry.object;
      }
    }
  }
  std::size_t place(std::uint64_t key) const {
    // Fibonacci hashing: handles differ in their low bits (MPICH) or in their middle ones
    // (pointers).
    return (key * 0x9e3779b97f4a7c15u >> 32) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }
  void put(std::uint64_t key, Object* object) {
    std::size_t i = place(key);
    while (entries_[i].object != nullptr && entries_[i].key != key) i = next(i);
    if (entries_[i].object == nullptr) ++used_;
    entries_[i] = {key, object};
  }

  // No handle has this value: 32-bit handles are zero-extended, and no object lies at the top.
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  std::uint64_t last_key_ = no_key;
  Object* last_ = nullptr;
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace oriel::boundary
