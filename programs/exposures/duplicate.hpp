// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "exposure.hpp"
#include "windows_api.hpp"

namespace exposures {

/// Another handle of an allocated window.
class Duplicate final : public Exposure {
 public:
  explicit Duplicate(std::size_t bytes) : size_(static_cast<MPI_Aint>(bytes)) {}

  void open() override {
    MPI_Win_allocate(size_, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &parent_);
    duplicate();
  }
  void close() override {
    MPI_Win_free(&window_);
    MPI_Win_free(&parent_);
  }
  /// Frees the duplicate and makes it again. Local.
  void renew() {
    MPI_Win_free(&window_);
    duplicate();
  }

 private:
  void duplicate() { api_.duplicate(parent_, MPI_INFO_NULL, &window_); }

  WindowsApi api_;
  MPI_Aint size_;
  MPI_Win parent_ = MPI_WIN_NULL;
};

}  // namespace exposures
