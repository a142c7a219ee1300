// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "exposure.hpp"
#include "own_memory.hpp"

namespace exposures {

/// The program's own memory, attached to a window that was made without any.
class Dynamic final : public Exposure {
 public:
  Dynamic(Source source, std::size_t bytes) : memory_(source, bytes) { base_ = memory_.base(); }

  void open() override {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    attach();
  }
  void close() override {
    detach();
    MPI_Win_free(&window_);
  }
  void attach() { MPI_Win_attach(window_, base_, memory_.size()); }
  void detach() { MPI_Win_detach(window_, base_); }

  MPI_Aint start(int rank) const override {
    MPI_Aint there = 0;
    MPI_Get_address(base_, &there);
    MPI_Bcast(&there, 1, MPI_AINT, rank, MPI_COMM_WORLD);
    return there;
  }

 private:
  OwnMemory memory_;
};

}  // namespace exposures
