// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/window_table.hpp"

#include <utility>

namespace oriel::boundary {

BoundWindow* WindowTable::find_in_table(std::uint64_t key) {
  if (used_ == 0) return nullptr;
  for (std::size_t i = place(key);; i = (i + 1) & (entries_.size() - 1)) {
    Entry& entry = entries_[i];
    if (entry.window == nullptr) return nullptr;
    if (entry.key == key) {
      last_key_ = key;
      return last_ = entry.window;
    }
  }
}

void WindowTable::put(std::uint64_t key, BoundWindow* window) {
  std::size_t i = place(key);
  while (entries_[i].window != nullptr && entries_[i].key != key) {
    i = (i + 1) & (entries_.size() - 1);
  }
  if (entries_[i].window == nullptr) ++used_;
  entries_[i] = {key, window};
}

void WindowTable::insert(std::uint64_t key, BoundWindow* window) {
  last_key_ = no_key;
  if (2 * (used_ + 1) > entries_.size()) {
    std::vector<Entry> old =
        std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 16 : 2 * entries_.size()));
    used_ = 0;
    for (const Entry& entry : old) {
      if (entry.window != nullptr) put(entry.key, entry.window);
    }
  }
  put(key, window);
}

void WindowTable::erase(std::uint64_t key, const BoundWindow* window) {
  last_key_ = no_key;
  if (find_in_table(key) != window) return;
  last_key_ = no_key;
  // What follows the gap up to the next one may have been pushed past it: put it in again.
  std::size_t i = place(key);
  while (entries_[i].key != key) i = (i + 1) & (entries_.size() - 1);
  entries_[i] = {};
  --used_;
  for (i = (i + 1) & (entries_.size() - 1); entries_[i].window != nullptr;
       i = (i + 1) & (entries_.size() - 1)) {
    const Entry moved = std::exchange(entries_[i], {});
    --used_;
    put(moved.key, moved.window);
  }
}

}  // namespace oriel::boundary
