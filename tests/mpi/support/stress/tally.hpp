// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "support/stress/area.hpp"

namespace stress {

/// What one thread has done to the words of one area of one rank.
struct Tally {
  std::int64_t sum = 0;
  std::int64_t greatest = 0;
  std::int64_t parity = 0;
  std::int64_t guarded = 0;
  std::int64_t excluded = 0;
  std::array<std::int32_t, Area::row_words> row{};
  std::vector<std::int64_t> tickets;

  void add(const Tally& other) {
    sum += other.sum;
    greatest = std::max(greatest, other.greatest);
    parity ^= other.parity;
    guarded += other.guarded;
    excluded += other.excluded;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += other.row[i];
    tickets.insert(tickets.end(), other.tickets.begin(), other.tickets.end());
  }
};

}  // namespace stress
