// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>

namespace stencil {

/// The rows and columns of the whole domain, and the columns that this rank computes. Row 0 and
/// column 0 are given and the rest is computed.
///
/// The ranks are a ring: values of a row go from each rank to the one on its right, and the corner
/// goes from the last rank to the first.
class Domain {
 public:
  Domain(int rows, int columns) : rows_(rows), columns_(columns) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const int each = columns / ranks_;
    const int longer = columns % ranks_;
    const int start = rank_ * each + std::min(rank_, longer);
    first_column_ = std::max(start, 1);
    last_column_ = start + each + (rank_ < longer ? 1 : 0) - 1;
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  int first_column() const { return first_column_; }
  int last_column() const { return last_column_; }

  int left() const { return (rank_ + ranks_ - 1) % ranks_; }
  int right() const { return (rank_ + 1) % ranks_; }
  bool leftmost() const { return rank_ == 0; }
  bool rightmost() const { return rank_ == ranks_ - 1; }

  /// What the stencil computes at a point, exactly: all values are whole numbers, and far below
  /// 2^53. An iteration begins with the negated corner of the one before it at row 0, column 0.
  double value(int row, int column, std::int64_t iteration) const {
    return static_cast<double>(row + column + iteration * (rows_ + columns_ - 2));
  }

 private:
  int rows_;
  int columns_;
  int rank_ = 0;
  int ranks_ = 0;
  int first_column_ = 0;
  int last_column_ = 0;
};

}  // namespace stencil
