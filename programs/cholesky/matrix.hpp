// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "tiling.hpp"

namespace cholesky {

/// Symmetric, and positive definite because its diagonal outweighs the rest of every row. An
/// element is a function of its place and of the matrix's number, so that each rank makes its own
/// tiles.
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
  static constexpr std::uint64_t seed = 20150525;

  double element(int i, int j) const {
    const auto [low, high] = std::minmax(i, j);
    const std::uint64_t place = static_cast<std::uint64_t>(high) * order_ + low;
    const std::uint64_t bits = mix(mix(seed + number_) + place);
    const double fraction = static_cast<double>(bits >> 11) * 0x1p-53;  // 0 to 1
    return fraction - 0.5 + (i == j ? order_ : 0);
  }

  /// SplitMix64.
  static std::uint64_t mix(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

  int edge_;
  int order_;
  std::uint64_t number_;
};

}  // namespace cholesky
