// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "bench/window.hpp"
#include "domain.hpp"
#include "grid.hpp"
#include "slots.hpp"

namespace stencil {

/// A fence synchronizes all ranks, so that they go in steps: in each one a rank is one row behind
/// its left one, and the fence that ends it brings every rank its next value.
class Fence {
 public:
  Fence(const Domain& domain, bench::Memory memory)
      : domain_(domain), grid_(domain), slots_(domain, memory) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, slots_.window());
  }
  ~Fence() { MPI_Win_fence(MPI_MODE_NOSUCCEED, slots_.window()); }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  void iterate(std::int64_t iteration) {
    const int steps = domain_.rows() - 1 + domain_.ranks() - 1;
    for (int step = 1; step <= steps; ++step) {
      const int row = step - domain_.rank();
      if (1 <= row && row < domain_.rows()) compute(row, iteration);
      MPI_Win_fence(MPI_MODE_NOSTORE, slots_.window());
    }
    if (domain_.leftmost()) grid_.begin_with(slots_[corner_slot].value);
  }

 private:
  void compute(int row, std::int64_t iteration) {
    const double left = domain_.leftmost() ? row : slots_[row].value;
    const double* edge = grid_.compute(row, left, iteration);
    if (!domain_.rightmost()) {
      slots_.put(edge, domain_.right(), row);
    } else if (row == domain_.rows() - 1) {
      slots_.put(edge, domain_.right(), corner_slot);
    }
  }

  const Domain& domain_;
  Grid grid_;
  Slots slots_;
};

}  // namespace stencil
