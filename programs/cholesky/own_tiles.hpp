// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "matrix.hpp"
#include "plan.hpp"
#include "tiling.hpp"

namespace cholesky {

/// The tiles that this rank computes: first of A, then of L. Outside of every window, because a
/// rank may not store to a window in every memory model while others put to it.
class OwnTiles {
 public:
  OwnTiles(const Tiling& tiling, const Plan& plan)
      : tiling_(tiling),
        plan_(plan),
        values_(plan.own().size() * static_cast<std::size_t>(tiling.elements())) {}

  /// By its place in Plan::own.
  double* operator[](std::size_t place) {
    return &values_[place * static_cast<std::size_t>(tiling_.elements())];
  }
  const double* operator[](std::size_t place) const {
    return &values_[place * static_cast<std::size_t>(tiling_.elements())];
  }

  void become(const Matrix& matrix) {
    for (std::size_t place = 0; place < plan_.own().size(); ++place) {
      const auto [row, column] = plan_.own()[place];
      matrix.fill((*this)[place], row, column);
    }
  }

 private:
  const Tiling& tiling_;
  const Plan& plan_;
  std::vector<double> values_;
};

}  // namespace cholesky
