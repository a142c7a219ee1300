// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "bench/window.hpp"
#include "shape.hpp"
#include "slots.hpp"
#include "values.hpp"

namespace tree {

/// A fence synchronizes all ranks: one for each level of the tree, from the farthest to the root.
class Fence {
 public:
  Fence(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape), slots_(shape, memory, words) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, slots_.window());
  }
  ~Fence() { MPI_Win_fence(MPI_MODE_NOSUCCEED, slots_.window()); }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  void reduce(std::span<double> sums) {
    const int mine = shape_.level();
    for (int level = shape_.depth(); level > 0; --level) {
      if (level == mine) slots_.put(sums);
      MPI_Win_fence(MPI_MODE_NOSTORE, slots_.window());
      if (level != mine + 1) continue;
      for (std::size_t place = 0; place < shape_.children().size(); ++place) {
        add(sums, slots_.values(place));
      }
    }
  }

 private:
  const Shape& shape_;
  Slots slots_;
};

}  // namespace tree
