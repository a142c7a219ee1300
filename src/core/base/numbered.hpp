// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace oriel {

/// Values with small numbers; the number of a removed value is used again.
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

  /// All values, and a T{} for each free number.
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }

 private:
  std::vector<T> values_;
  std::vector<int> free_;
};

}  // namespace oriel
