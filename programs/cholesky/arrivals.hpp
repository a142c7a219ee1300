// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "bench/window.hpp"
#include "open_window.hpp"
#include "tiling.hpp"

namespace cholesky {

/// A window with a place for every tile that others may put.
class Arrivals {
 public:
  Arrivals(const Tiling& tiling, bench::Memory memory)
      : tile_bytes_(tiling.bytes()),
        window_(memory, tile_bytes_ * static_cast<std::size_t>(tiling.tiles())) {}

  MPI_Win handle() const { return window_.handle(); }
  /// Where a tile belongs on every rank.
  MPI_Aint displacement(int tile) const {
    return static_cast<MPI_Aint>(tile_bytes_ * static_cast<std::size_t>(tile));
  }
  const double* tile(int tile) const {
    return reinterpret_cast<const double*>(static_cast<const std::byte*>(window_.base()) +
                                           displacement(tile));
  }

 private:
  std::size_t tile_bytes_;
  OpenWindow window_;
};

}  // namespace cholesky
