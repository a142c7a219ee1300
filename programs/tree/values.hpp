// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/failure.hpp"
#include "shape.hpp"

namespace tree {

/// What each rank contributes to a round, and what all contributions make: whole numbers, so that
/// sums are exact in every order, and others in every round.
class Values {
 public:
  explicit Values(const Shape& shape) : rank_(shape.rank()), ranks_(shape.ranks()) {}

  void contribute(std::span<double> values, std::int64_t round) const {
    for (std::size_t index = 0; index < values.size(); ++index) {
      values[index] = weight(round) * (rank_ + 1) + static_cast<double>(index);
    }
  }

  /// Ends the job unless these are the sums of all contributions to this round.
  void expect(std::span<const double> sums, std::int64_t round) const {
    const double ranks = ranks_;
    for (std::size_t index = 0; index < sums.size(); ++index) {
      const double expected =
          weight(round) * ranks * (ranks + 1) / 2 + ranks * static_cast<double>(index);
      if (sums[index] == expected) continue;
      bench::fail("in round " + std::to_string(round) + " sum " + std::to_string(index) +
                  " at the root is " + std::to_string(sums[index]) + " and should be " +
                  std::to_string(expected) + ".");
    }
  }

 private:
  static double weight(std::int64_t round) { return static_cast<double>(round + 1); }

  int rank_;
  int ranks_;
};

inline void add(std::span<double> sums, const double* values) {
  for (std::size_t index = 0; index < sums.size(); ++index) sums[index] += values[index];
}

}  // namespace tree
