// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace oriel {

/// Values that are known by small numbers; that of a removed one is given again.
template <typename T>
class Numbered {
 public:
  int add(T value) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(values_.size()));
      values_.emplace_back();
    }
    const int number = free_.back();
    free_.pop_back();
    (*this)[number] = std::move(value);
    return number;
  }
  T remove(int number) {
    free_.push_back(number);
    return std::exchange((*this)[number], T{});
  }
  T& operator[](int number) { return values_[static_cast<std::size_t>(number)]; }

  /// All of them, and a T{} for each number that is free.
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }

 private:
  std::vector<T> values_;
  std::vector<int> free_;  // of these
};

}  // namespace oriel
