// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "hints.hpp"

namespace threads {

/// The one allocated window that all threads put into, each into its own part.
class SharedWindow {
 public:
  SharedWindow(const Hints& hints, int parts, std::size_t part_bytes)
      : part_bytes_(static_cast<MPI_Aint>(part_bytes)) {
    MPI_Info info = hints.info();
    MPI_Win_allocate(parts * part_bytes_, 1, info, MPI_COMM_WORLD, &base_, &win_);
    MPI_Info_free(&info);
  }
  ~SharedWindow() { MPI_Win_free(&win_); }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  MPI_Win handle() const { return win_; }
  MPI_Aint displacement(int part) const { return part * part_bytes_; }
  const std::byte* own(int part) const { return base_ + displacement(part); }

 private:
  MPI_Aint part_bytes_;
  std::byte* base_ = nullptr;
  MPI_Win win_ = MPI_WIN_NULL;
};

}  // namespace threads
