// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/random_element.hpp"

namespace lu {

/// The magnitude of each element of the diagonal is larger than the sum of those of the other
/// elements in its column. Elimination preserves this, so the elements on the diagonal are the
/// pivots: no rows need to be swapped.
class Matrix {
 public:
  Matrix(int order, std::uint64_t number) : order_(order), number_(number) {}

  double element(int row, int column) const {
    const std::uint64_t place = static_cast<std::uint64_t>(row) * order_ + column;
    return bench::random_element(number_, place) + (row == column ? 0.5 * order_ + 0.5 : 0);
  }

 private:
  int order_;
  std::uint64_t number_;
};

}  // namespace lu
