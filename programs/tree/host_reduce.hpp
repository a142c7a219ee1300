// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "bench/window.hpp"
#include "shape.hpp"

namespace tree {

/// The host's own MPI_Reduce, in whatever shape it has.
class HostReduce {
 public:
  HostReduce(const Shape& shape, bench::Memory, std::size_t) : shape_(shape) {}

  void reduce(std::span<double> sums) {
    const int count = static_cast<int>(sums.size());
    const void* mine = shape_.root() ? MPI_IN_PLACE : sums.data();
    MPI_Reduce(mine, shape_.root() ? sums.data() : nullptr, count, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
  }

 private:
  const Shape& shape_;
};

}  // namespace tree
