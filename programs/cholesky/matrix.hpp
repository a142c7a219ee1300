// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/random_element.hpp"
#include "tiling.hpp"

namespace cholesky {

/// Symmetric, and positive definite because its diagonal outweighs the rest of every row.
class Matrix {
 public:
  Matrix(const Tiling& tiling, std::uint64_t number)
      : edge_(tiling.edge()), order_(tiling.order()), number_(number) {}

  void fill(double* tile, int row, int column) const {
    for (int j = 0; j < edge_; ++j) {
      for (int i = 0; i < edge_; ++i) {
        tile[j * edge_ + i] = element(row * edge_ + i, column * edge_ + j);
      }
    }
  }

 private:
  double element(int i, int j) const {
    const auto [low, high] = std::minmax(i, j);
    const std::uint64_t place = static_cast<std::uint64_t>(high) * order_ + low;
    return bench::random_element(number_, place) + (i == j ? order_ : 0);
  }

  int edge_;
  int order_;
  std::uint64_t number_;
};

}  // namespace cholesky
