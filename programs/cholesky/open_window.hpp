// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>

#include "bench/window.hpp"

namespace cholesky {

/// A window of zeros in which every rank may access every other one's part for as long as it lives.
class OpenWindow {
 public:
  OpenWindow(bench::Memory memory, std::size_t bytes) : window_(memory, bytes) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
      const bench::OwnPart mine(window_, rank);
      std::memset(window_.base(), 0, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_.handle());
  }
  ~OpenWindow() { MPI_Win_unlock_all(window_.handle()); }
  OpenWindow(const OpenWindow&) = delete;
  OpenWindow& operator=(const OpenWindow&) = delete;

  MPI_Win handle() const { return window_.handle(); }
  void* base() const { return window_.base(); }

 private:
  bench::Window window_;
};

}  // namespace cholesky
