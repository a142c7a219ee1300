// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "domain.hpp"

namespace stencil {

/// This rank's columns, and the column on their left. Private memory in every variant, so that the
/// variants differ by their communication only.
class Grid {
 public:
  explicit Grid(const Domain& domain)
      : domain_(domain),
        stride_(static_cast<std::size_t>(domain.last_column() - domain.first_column() + 2)),
        cells_(static_cast<std::size_t>(domain.rows()) * stride_) {
    for (std::size_t index = 0; index < stride_; ++index) {
      cells_[index] = static_cast<double>(domain.first_column() - 1) + static_cast<double>(index);
    }
  }

  /// Computes one row, given the value on the left of it. Returns where its last value is, which
  /// stays there until the next iteration. A wrong one ends the job: it depends on all that was
  /// received for this row, and has another value in every row and iteration.
  const double* compute(int row, double left, std::int64_t iteration) {
    double* const now = &cells_[static_cast<std::size_t>(row) * stride_];
    const double* const before = now - stride_;
    now[0] = left;
    for (std::size_t column = 1; column < stride_; ++column) {
      now[column] = before[column] + now[column - 1] - before[column - 1];
    }
    const double* const edge = &now[stride_ - 1];
    const double expected = domain_.value(row, domain_.last_column(), iteration);
    if (*edge != expected) {
      bench::fail("in iteration " + std::to_string(iteration) + " the value in row " +
                  std::to_string(row) + ", column " + std::to_string(domain_.last_column()) +
                  " is " + std::to_string(*edge) + " and should be " + std::to_string(expected) +
                  ".");
    }
    return edge;
  }

  /// The next iteration depends on the end of this one. For the leftmost rank.
  void begin_with(double corner) { cells_[0] = -corner; }

 private:
  const Domain& domain_;
  std::size_t stride_;
  std::vector<double> cells_;
};

}  // namespace stencil
