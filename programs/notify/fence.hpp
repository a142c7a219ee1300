// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "channel.hpp"

namespace notify {

class Fence {
 public:
  explicit Fence(const Channel& channel) : win_(channel.win()) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win_);
  }

  void reclaim() {}
  template <typename Transfer>
  void act(Transfer& transfer) {
    transfer.issue();
    MPI_Win_fence(0, win_);
  }
  template <typename Transfer>
  void wait(const Transfer&, std::int64_t) {
    MPI_Win_fence(0, win_);
  }
  void finish() { MPI_Win_fence(MPI_MODE_NOSUCCEED, win_); }

 private:
  MPI_Win win_;
};

}  // namespace notify
