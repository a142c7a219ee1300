// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "exposure.hpp"
#include "own_memory.hpp"
#include "windows_api.hpp"

namespace exposures {

/// Memory of one rank, the target, exposed by a memory handle on a dynamic window; every rank has a
/// window made from it.
class Handle final : public Exposure {
 public:
  Handle(Source source, std::size_t bytes, int target) : memory_(source, bytes), target_(target) {
    base_ = memory_.base();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  void open() override {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent_);
    if (rank_ == target_) create();
    MPI_Bcast(handle_.data(), ORIEL_MAX_MEMHANDLE_SIZE, MPI_BYTE, target_, MPI_COMM_WORLD);
    make_window();
  }
  void close() override {
    MPI_Win_free(&window_);
    MPI_Barrier(MPI_COMM_WORLD);  // only who has made its window can do without the handle
    if (rank_ == target_) release();
    MPI_Win_free(&parent_);
  }
  /// Ends the exposure and begins it again. Local, the target's; the windows that were made are of
  /// no more use.
  void renew_handle() {
    release();
    create();
  }
  /// Frees the window and makes it again. Local.
  void renew_window() {
    MPI_Win_free(&window_);
    make_window();
  }

  MPI_Win locked() const override { return parent_; }

 private:
  void create() {
    int bytes = 0;
    api_.create(base_, memory_.size(), MPI_INFO_NULL, parent_, handle_.data(), &bytes);
  }
  void release() { api_.release(handle_.data(), parent_); }
  void make_window() {
    api_.window_from(handle_.data(), memory_.size(), 1, MPI_INFO_NULL, target_, parent_, &window_);
  }

  WindowsApi api_;
  OwnMemory memory_;
  int rank_ = 0;
  int target_;
  MPI_Win parent_ = MPI_WIN_NULL;
  std::array<std::byte, ORIEL_MAX_MEMHANDLE_SIZE> handle_{};
};

}  // namespace exposures
