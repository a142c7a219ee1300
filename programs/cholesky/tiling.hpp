// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/failure.hpp"

namespace cholesky {

/// Square tiles of the lower triangle of a matrix, numbered column by column from the top.
class Tiling {
 public:
  /// The smallest matrix with so many tiles.
  Tiling(int edge, std::int64_t tiles) : edge_(edge) {
    while (std::int64_t{rows_} * (rows_ + 1) / 2 < tiles) ++rows_;
    if (std::int64_t{rows_} * (rows_ + 1) / 2 * edge * edge > INT_MAX) {
      bench::fail(std::to_string(tiles) + " tiles of " + std::to_string(edge) + " x " +
                  std::to_string(edge) +
                  " are more doubles than one MPI call takes; use fewer tiles or smaller ones.");
    }
  }

  int edge() const { return edge_; }
  int elements() const { return edge_ * edge_; }
  std::size_t bytes() const { return sizeof(double) * static_cast<std::size_t>(elements()); }
  /// Of tiles; the matrix has as many columns.
  int rows() const { return rows_; }
  int tiles() const { return rows_ * (rows_ + 1) / 2; }
  /// Of the matrix.
  int order() const { return rows_ * edge_; }

  int tile(int row, int column) const {
    return column * rows_ - column * (column - 1) / 2 + row - column;
  }

 private:
  int edge_;
  int rows_ = 1;
};

}  // namespace cholesky
