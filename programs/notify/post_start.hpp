// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "channel.hpp"

namespace notify {

/// General active target synchronization, as in the paper's listing.
class PostStart {
 public:
  explicit PostStart(const Channel& channel) : win_(channel.win()) {
    const int partner = channel.partner();
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Win_get_group(win_, &all);
    MPI_Group_incl(all, 1, &partner, &partner_);
    MPI_Group_free(&all);
  }

  void reclaim() {}
  template <typename Transfer>
  void act(Transfer& transfer) {
    MPI_Win_start(partner_, 0, win_);
    transfer.issue();
    MPI_Win_complete(win_);
  }
  template <typename Transfer>
  void wait(const Transfer&, std::int64_t) {
    MPI_Win_post(partner_, 0, win_);
    MPI_Win_wait(win_);
  }
  void finish() { MPI_Group_free(&partner_); }

 private:
  MPI_Win win_;
  MPI_Group partner_ = MPI_GROUP_NULL;
};

}  // namespace notify
