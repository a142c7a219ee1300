// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace oriel {

/// A queue that keeps the memory of its greatest length. A std::deque allocates and frees blocks
/// while objects pass through it. Hot paths must not allocate.
template <typename T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }

  void push(const T& object) {
    if (size_ == slots_.size()) grow();
    slots_[index(size_)] = object;
    ++size_;
  }
  /// Moves the first object to `object`. False: there is none.
  bool pop(T& object) {
    if (empty()) return false;
    object = std::move(slots_[first_]);
    first_ = index(1);
    --size_;
    return true;
  }

 private:
  /// The slot of the object with this position in the queue. The number of slots is a power of two.
  std::size_t index(std::size_t position) const {
    return (first_ + position) & (slots_.size() - 1);
  }
  void grow() {
    constexpr std::size_t fewest = 16;
    std::vector<T> larger(slots_.empty() ? fewest : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[index(i)]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace oriel
