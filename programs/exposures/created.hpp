// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "exposure.hpp"
#include "own_memory.hpp"

namespace exposures {

/// The program's own memory, there before the window.
class Created final : public Exposure {
 public:
  Created(Source source, std::size_t bytes) : memory_(source, bytes) { base_ = memory_.base(); }

  void open() override {
    MPI_Win_create(base_, memory_.size(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
  }
  void close() override { MPI_Win_free(&window_); }

 private:
  OwnMemory memory_;
};

}  // namespace exposures
