// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/lapack.hpp"
#include "matrix.hpp"
#include "own_tiles.hpp"
#include "plan.hpp"
#include "tiling.hpp"

namespace cholesky {

/// LAPACK's own tests accept this much.
inline constexpr double largest_residual = 30;

/// ||A - L L^T|| / (||A|| n eps) in the Frobenius norm; ends the job where it is too large. L is
/// brought together from the ranks that have computed it: the tiles that were sent on the way might
/// be wrong and fit one another. Collective.
inline double residual(const Tiling& tiling, const Plan& plan, const Matrix& matrix,
                       const OwnTiles& own) {
  const int edge = tiling.edge();
  const auto elements = static_cast<std::size_t>(tiling.elements());
  std::vector<double> factor(elements * static_cast<std::size_t>(tiling.tiles()));
  const auto factor_tile = [&](int row, int column) {
    return &factor[elements * static_cast<std::size_t>(tiling.tile(row, column))];
  };
  for (std::size_t place = 0; place < plan.own().size(); ++place) {
    const auto [row, column] = plan.own()[place];
    for (int j = 0; j < edge; ++j) {
      // Above the diagonal the tile still has elements of A.
      for (int i = row == column ? j : 0; i < edge; ++i) {
        factor_tile(row, column)[j * edge + i] = own[place][j * edge + i];
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, factor.data(), static_cast<int>(factor.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);

  std::array<double, 2> squares{};  // of the difference and of A
  std::vector<double> tile(elements);
  const auto add = [&](double& sum, bool diagonal) {
    for (const double value : tile) sum += (diagonal ? 1 : 2) * value * value;
  };
  for (const auto [row, column] : plan.own()) {
    matrix.fill(tile.data(), row, column);
    add(squares[1], row == column);
    for (int n = 0; n <= column; ++n) {
      bench::lapack::gemm(edge, factor_tile(row, n), factor_tile(column, n), tile.data());
    }
    add(squares[0], row == column);
  }
  MPI_Allreduce(MPI_IN_PLACE, squares.data(), static_cast<int>(squares.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  const double eps = std::numeric_limits<double>::epsilon() / 2;  // as LAPACK's tests have it
  const double result = std::sqrt(squares[0] / squares[1]) / (tiling.order() * eps);
  if (!(result <= largest_residual)) {
    bench::fail("the factor of a matrix of order " + std::to_string(tiling.order()) +
                " is wrong: ||A - L L^T|| / (||A|| n eps) is " + std::to_string(result) +
                " and should be at most " + std::to_string(largest_residual) + ".");
  }
  return result;
}

}  // namespace cholesky
