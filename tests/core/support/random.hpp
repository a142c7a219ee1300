// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace oriel::test {

/// A small generator whose numbers are the same everywhere, so that a seed replays (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <typename Items>
  const auto& pick(const Items& items) {
    return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }
  }

 private:
  std::uint64_t state_;
};

/// ORIEL_SEED=n replays one seed; ORIEL_SEEDS=n asks for so many of them, for a long run.
struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 0;

  static Seeds from_environment(std::uint64_t usual) {
    if (const char* one = std::getenv("ORIEL_SEED")) return {std::strtoull(one, nullptr, 10), 1};
    if (const char* many = std::getenv("ORIEL_SEEDS")) {
      return {1, std::strtoull(many, nullptr, 10)};
    }
    return {1, usual};
  }
};

}  // namespace oriel::test
