// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/lapack.hpp"
#include "bench/row.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "own_tiles.hpp"
#include "plan.hpp"
#include "residual.hpp"
#include "stay.hpp"
#include "tiling.hpp"

namespace cholesky {

/// Left-looking factorizations, with the tiles sent in one way. A batch is one of them: each has a
/// matrix of its own, so that a tile left over from the one before does not pass for its successor,
/// and is checked.
template <typename Way>
class Factorization final : public bench::Row {
 public:
  Factorization(const Tiling& tiling, const Plan& plan, const Options& options)
      : tiling_(tiling), plan_(plan), own_(tiling, plan), way_(tiling, options) {}

  bool plays() const override { return true; }

  void prepare_batch() override {
    ++number_;
    own_.become(Matrix(tiling_, number_));
    tiles_.assign(static_cast<std::size_t>(tiling_.tiles()), nullptr);
    awaited_ = plan_.arrivals();
  }

  void play(std::int64_t) override {
    for (std::size_t place = 0; place < plan_.own().size(); ++place) {
      const auto [row, column] = plan_.own()[place];
      compute(own_[place], row, column);
      supply(tiling_.tile(row, column), own_[place]);
    }
    while (awaited_ > 0) receive(Stay::yes);
    way_.finish();
  }

  void finish_batch() override { check(); }

  void check() override {
    residual_ = std::max(residual_, residual(tiling_, plan_, Matrix(tiling_, number_), own_));
  }

  /// The largest of all factorizations.
  double largest() const { return residual_; }

 private:
  /// Its tasks one after the other, each as soon as the tiles that it reads are there.
  void compute(double* values, int row, int column) {
    const int edge = tiling_.edge();
    for (int n = 0; n < column; ++n) {
      const double* left = tile(row, n);
      if (row == column) {
        bench::lapack::syrk(edge, left, values);
      } else {
        bench::lapack::gemm(edge, left, tile(column, n), values);
      }
      forward();
    }
    if (row != column) {
      bench::lapack::trsm(edge, tile(column, column), values);
    } else if (!bench::lapack::potrf(edge, values)) {
      bench::fail("the matrix stopped being positive definite in tile column " +
                  std::to_string(column) + ": what it was computed from is wrong.");
    }
  }

  const double* tile(int row, int column) {
    const auto index = static_cast<std::size_t>(tiling_.tile(row, column));
    while (!tiles_[index]) receive(Stay::yes);
    return tiles_[index];
  }

  /// Whatever has arrived by now, so that others need not wait until this rank waits for a tile.
  void forward() {
    while (awaited_ > 0 && receive(Stay::no)) continue;
  }

  bool receive(Stay stay) {
    const auto tile = way_.receive(stay);
    if (!tile) return false;
    --awaited_;
    supply(*tile, way_.arrived(*tile));
    return true;
  }

  void supply(int tile, const double* values) {
    tiles_[static_cast<std::size_t>(tile)] = values;
    way_.send(tile, values, plan_.children(tile));
  }

  const Tiling& tiling_;
  const Plan& plan_;
  OwnTiles own_;
  Way way_;
  std::vector<const double*> tiles_;  // of L, where they are; null as long as they are not here
  int awaited_ = 0;                   // how many of them are still to arrive
  std::uint64_t number_ = 0;
  double residual_ = 0;
};

}  // namespace cholesky
