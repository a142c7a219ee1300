// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "bench/lapack.hpp"
#include "layout.hpp"
#include "matrix.hpp"

namespace lu {

/// The rows that this rank computes: first of A, then of L, left of the diagonal, and of U.
class OwnRows {
 public:
  explicit OwnRows(const Layout& layout)
      : layout_(layout),
        values_(static_cast<std::size_t>(layout.most_owned()) *
                static_cast<std::size_t>(layout.order())) {}

  /// As many rows on every rank; the last one of some ranks is not used.
  const std::vector<double>& values() const { return values_; }

  /// A row of U, from the diagonal, by its number in the matrix.
  double* upper(int row) { return &values_[place(layout_.owned_above(row), row)]; }

  void become(const Matrix& matrix) {
    for (int index = 0; index < layout_.owned_above(layout_.order()); ++index) {
      for (int column = 0; column < layout_.order(); ++column) {
        values_[place(index, column)] = matrix.element(layout_.owned_row(index), column);
      }
    }
  }

  /// Eliminates column `pivot` from the rows below row `pivot` of U, which begins at `upper`.
  void eliminate(int pivot, const double* upper) {
    const int first = layout_.owned_above(pivot + 1);
    const int rows = layout_.owned_above(layout_.order()) - first;
    if (rows == 0) return;
    const int order = layout_.order();
    double* const factors = &values_[place(first, pivot)];
    for (int row = 0; row < rows; ++row) {
      factors[static_cast<std::ptrdiff_t>(row) * order] /= upper[0];
    }
    // To BLAS our rows are columns.
    bench::lapack::ger(layout_.length(pivot) - 1, rows, upper + 1, factors, order, factors + 1,
                       order);
  }

 private:
  std::size_t place(int index, int column) const {
    return static_cast<std::size_t>(index) * static_cast<std::size_t>(layout_.order()) +
           static_cast<std::size_t>(column);
  }

  const Layout& layout_;
  std::vector<double> values_;
};

}  // namespace lu
