// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <numeric>
#include <vector>

#include "bench/group.hpp"
#include "bench/window.hpp"
#include "layout.hpp"

namespace lu {

/// A window with a place for every row of U, and the groups of its epochs. No place is used twice
/// in a factorization, so epochs of different rows access disjoint memory.
class OpenRows {
 public:
  OpenRows(const Layout& layout, bench::Memory memory)
      : layout_(layout),
        window_(memory, sizeof(double) * layout.upper_elements()),
        peers_(others(layout)) {
    for (int rank = 0; rank < layout.ranks(); ++rank) owners_.emplace_back(std::vector{rank});
  }

  MPI_Win handle() const { return window_.handle(); }
  /// All other ranks: the targets of an owner's access epoch.
  MPI_Group peers() const { return peers_.handle(); }
  /// The origin of the row's exposure epoch.
  MPI_Group owner(int row) const {
    return owners_[static_cast<std::size_t>(layout_.owner(row))].handle();
  }

  const double* operator[](int row) const {
    return static_cast<const double*>(window_.base()) + layout_.place(row);
  }

  void put(int row, const double* values) const {
    const auto displacement = static_cast<MPI_Aint>(sizeof(double) * layout_.place(row));
    for (int peer = 0; peer < layout_.ranks(); ++peer) {
      if (peer == layout_.rank()) continue;
      MPI_Put(values, layout_.length(row), MPI_DOUBLE, peer, displacement, layout_.length(row),
              MPI_DOUBLE, window_.handle());
    }
  }

 private:
  static std::vector<int> others(const Layout& layout) {
    std::vector<int> ranks(static_cast<std::size_t>(layout.ranks()));
    std::iota(ranks.begin(), ranks.end(), 0);
    ranks.erase(ranks.begin() + layout.rank());
    return ranks;
  }

  const Layout& layout_;
  bench::Window window_;
  bench::Group peers_;
  std::deque<bench::Group> owners_;  // by rank; a group is never moved
};

}  // namespace lu
