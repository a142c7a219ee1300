// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "bench/window.hpp"
#include "shape.hpp"

namespace tree {

/// A window with a slot for each child: its values, and a flag behind them. A slot begins at a
/// cache line, so that children do not write one another's.
///
/// No slot is overwritten before it was read. All ranks meet before each round (`TreeRow`), and
/// none leaves the meeting before all have come. A parent comes to that of the next round after it
/// has read its slots of this one, and a child puts its next contribution after that meeting.
class Slots {
 public:
  Slots(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape),
        words_(words),
        slot_bytes_((words * sizeof(double) + sizeof(std::int64_t) + line - 1) / line * line),
        window_(memory, bytes()),
        base_(static_cast<std::byte*>(window_.base())) {
    {
      const bench::OwnPart mine(window_, shape.rank());
      std::memset(base_, 0, bytes());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  MPI_Win window() const { return window_.handle(); }

  const double* values(std::size_t place) const {
    return reinterpret_cast<const double*>(base_ + place * slot_bytes_);
  }
  std::int64_t& flag(std::size_t place) const {
    return *reinterpret_cast<std::int64_t*>(base_ + place * slot_bytes_ + words_ * sizeof(double));
  }

  /// The contribution of this rank's part of the tree, to its slot at the parent.
  void put(std::span<const double> sums) const {
    const int count = static_cast<int>(sums.size());
    MPI_Put(sums.data(), count, MPI_DOUBLE, shape_.parent(), at_parent(), count, MPI_DOUBLE,
            window());
  }
  /// Where this rank's slot is at its parent.
  MPI_Aint at_parent() const { return shape_.place() * static_cast<MPI_Aint>(slot_bytes_); }
  MPI_Aint flag_at_parent() const {
    return at_parent() + static_cast<MPI_Aint>(words_ * sizeof(double));
  }

 private:
  static constexpr std::size_t line = 64;

  std::size_t bytes() const {
    return std::max<std::size_t>(shape_.children().size(), 1) * slot_bytes_;
  }

  const Shape& shape_;
  std::size_t words_;
  std::size_t slot_bytes_;
  bench::Window window_;
  std::byte* base_;
};

}  // namespace tree
