// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>

namespace halo {

/// The four sides of a rank's part of the grid; a side and its opposite differ in the last bit.
constexpr int sides = 4;

constexpr int opposite(int side) {
  return side ^ 1;
}

/// All ranks as a grid without borders. With few ranks, neighbours on several sides may be the same
/// rank, or the rank itself.
class Grid {
 public:
  Grid() {
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Dims_create(size_, 2, extents_.data());
    const std::array<int, 2> periodic{1, 1};
    constexpr int keep_ranks = 0;
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents_.data(), periodic.data(), keep_ranks, &grid);
    MPI_Comm_rank(grid, &rank_);
    for (int dimension = 0; dimension < 2; ++dimension) {
      MPI_Cart_shift(grid, dimension, 1, &neighbours_[2 * dimension],
                     &neighbours_[2 * dimension + 1]);
    }
    MPI_Comm_free(&grid);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  int extent(int dimension) const { return extents_[dimension]; }
  int neighbour(int side) const { return neighbours_[side]; }

 private:
  int rank_ = 0;
  int size_ = 0;
  std::array<int, 2> extents_{};
  std::array<int, sides> neighbours_{};
};

}  // namespace halo
