// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/base/published.hpp"

namespace oriel {

/// An array that grows at its end and whose elements never move. While a thread that holds a lock
/// appends, other threads may use the elements that they know of.
template <typename T>
class GrowingArray {
 public:
  std::size_t size() const { return size_.load(); }
  bool empty() const { return size() == 0; }
  T& operator[](std::size_t index) { return *element(index); }
  T& front() { return *element(0); }
  const T& front() const { return *const_cast<GrowingArray&>(*this).element(0); }
  T& back() { return *element(size() - 1); }

  void push_back(T value) {
    const std::size_t index = size();
    auto& segment = segments_[segment_of(index)];
    if (segment == nullptr) {
      segment = std::make_unique<std::unique_ptr<T>[]>(std::max(index, first));
    }
    element(index) = std::make_unique<T>(std::move(value));
    size_.store(index + 1);
  }

 private:
  // Each segment but the first is as long as all segments before it together.
  static constexpr std::size_t first = 16;
  static constexpr std::size_t most_segments = 28;

  static std::size_t segment_of(std::size_t index) {
    return static_cast<std::size_t>(std::bit_width(index / first));
  }
  std::unique_ptr<T>& element(std::size_t index) {
    const std::size_t segment = segment_of(index);
    return segments_[segment][segment == 0 ? index : index - (first << (segment - 1))];
  }

  std::array<std::unique_ptr<std::unique_ptr<T>[]>, most_segments> segments_;
  Published<std::size_t> size_;
};

}  // namespace oriel
