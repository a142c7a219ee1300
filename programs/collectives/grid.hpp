// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "persistent/ranks.hpp"

namespace collectives {

/// The ranks as a grid of two dimensions with borders, as square as their number allows: neighbours
/// as those of ghost cells.
class Grid {
 public:
  explicit Grid(const persistent::Ranks& ranks) {
    int sizes[dimensions] = {};
    const int periodic[dimensions] = {};
    MPI_Dims_create(ranks.size(), dimensions, sizes);
    MPI_Cart_create(ranks.comm(), dimensions, sizes, periodic, /*reorder=*/0, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    for (int dimension = 0; dimension < dimensions; ++dimension) {
      int down = MPI_PROC_NULL;
      int up = MPI_PROC_NULL;
      MPI_Cart_shift(comm_, dimension, 1, &down, &up);
      neighbours_.insert(neighbours_.end(), {down, up});
    }
  }
  ~Grid() { MPI_Comm_free(&comm_); }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  MPI_Comm comm() const { return comm_; }
  /// In the order of neighbourhood collectives. MPI_PROC_NULL: behind a border.
  const std::vector<int>& neighbours() const { return neighbours_; }

 private:
  static constexpr int dimensions = 2;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<int> neighbours_;
};

}  // namespace collectives
