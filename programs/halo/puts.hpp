// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "bench/window.hpp"
#include "cells.hpp"
#include "grid.hpp"

namespace halo {

/// A step by MPI_Put into the neighbours' ghost cells, which are a window.
template <typename Synchronization>
class Puts {
 public:
  Puts(const Grid& grid, bench::Memory memory, std::size_t words)
      : grid_(grid),
        words_(words),
        window_(memory, sides * words * sizeof(Word)),
        synchronization_(window_.handle(), grid) {}

  void step(const Cells& cells) {
    synchronization_.step([&](int side) {
      const int count = static_cast<int>(words_);
      const auto there = static_cast<MPI_Aint>(opposite(side) * words_ * sizeof(Word));
      MPI_Put(cells.outgoing(side), count, MPI_INT64_T, grid_.neighbour(side), there, count,
              MPI_INT64_T, window_.handle());
    });
  }

  /// Whatever the steps have put is there.
  void finish() { synchronization_.finish(); }

  template <typename Look>
  void look_at_ghosts(Look&& look) {
    const bench::OwnPart mine(window_, grid_.rank());
    look(std::span<Word>(static_cast<Word*>(window_.base()), sides * words_));
  }

 private:
  const Grid& grid_;
  std::size_t words_;
  bench::Window window_;
  Synchronization synchronization_;
};

}  // namespace halo
