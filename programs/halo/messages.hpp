// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "bench/window.hpp"
#include "cells.hpp"
#include "grid.hpp"

namespace halo {

/// A step by point-to-point communication, in a program without windows. The tag is the side that
/// the message leaves its sender on.
class Messages {
 public:
  Messages(const Grid& grid, bench::Memory, std::size_t words)
      : grid_(grid), words_(words), ghosts_(sides * words) {}

  void step(const Cells& cells) {
    const int count = static_cast<int>(words_);
    for (int side = 0; side < sides; ++side) {
      MPI_Irecv(&ghosts_[side * words_], count, MPI_INT64_T, grid_.neighbour(side), opposite(side),
                MPI_COMM_WORLD, &requests_[side]);
    }
    for (int side = 0; side < sides; ++side) {
      MPI_Isend(cells.outgoing(side), count, MPI_INT64_T, grid_.neighbour(side), side,
                MPI_COMM_WORLD, &requests_[sides + side]);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void finish() {}

  template <typename Look>
  void look_at_ghosts(Look&& look) {
    look(std::span<Word>(ghosts_));
  }

 private:
  const Grid& grid_;
  std::size_t words_;
  std::vector<Word> ghosts_;
  std::array<MPI_Request, 2 * std::size_t{sides}> requests_{};
};

}  // namespace halo
