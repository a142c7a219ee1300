// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "exposure.hpp"

namespace exposures {

/// The memory comes and goes with the window.
class Allocated final : public Exposure {
 public:
  explicit Allocated(std::size_t bytes) : size_(static_cast<MPI_Aint>(bytes)) {}

  void open() override {
    MPI_Win_allocate(size_, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &window_);
  }
  void close() override { MPI_Win_free(&window_); }

 private:
  MPI_Aint size_;
};

}  // namespace exposures
