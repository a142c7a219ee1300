// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>

namespace stress {

/// The same numbers from the same seeds, on every host.
class Random {
 public:
  Random(std::initializer_list<std::uint64_t> seeds) {
    for (const std::uint64_t seed : seeds) state_ = next() ^ seed;
  }
  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }
  /// 0 to count - 1.
  template <class Integer>
  Integer below(Integer count) {
    return static_cast<Integer>(next() % static_cast<std::uint64_t>(count));
  }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace stress
