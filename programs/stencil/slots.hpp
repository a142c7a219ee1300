// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/window.hpp"
#include "domain.hpp"

namespace stencil {

/// One value that another rank puts here. A cache line for each: a rank that is ahead must not
/// write the line that this one reads.
struct alignas(64) Slot {
  double value = 0;
  std::int64_t flag = 0;
};

/// The slot of the corner; row 0 is given and never put.
inline constexpr int corner_slot = 0;

/// What is put to this rank: a window with a slot for each row.
///
/// No slot is overwritten before it was read. The value of the next iteration for a row comes from
/// the left rank, which got its own for that row from its left one, and so on back to the leftmost.
/// That one begins the next iteration when it has the corner of this one, which the rightmost rank
/// puts when it has computed its last row: by then every rank has read all its slots. The next
/// corner depends on that of this iteration having been read in the same way.
class Slots {
 public:
  Slots(const Domain& domain, bench::Memory memory)
      : window_(memory, static_cast<std::size_t>(domain.rows()) * sizeof(Slot)),
        slots_(static_cast<Slot*>(window_.base())) {
    {
      const bench::OwnPart mine(window_, domain.rank());
      std::fill_n(slots_, domain.rows(), Slot{});
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  MPI_Win window() const { return window_.handle(); }
  Slot& operator[](int row) const { return slots_[row]; }

  void put(const double* value, int target, int row) const {
    MPI_Put(value, 1, MPI_DOUBLE, target, of_value(row), 1, MPI_DOUBLE, window());
  }
  static MPI_Aint of_value(int row) { return displacement(row) + offsetof(Slot, value); }
  static MPI_Aint of_flag(int row) { return displacement(row) + offsetof(Slot, flag); }

 private:
  static MPI_Aint displacement(int row) { return row * static_cast<MPI_Aint>(sizeof(Slot)); }

  bench::Window window_;
  Slot* slots_;
};

}  // namespace stencil
