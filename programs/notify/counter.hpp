// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "channel.hpp"
#include "counter_api.hpp"
#include "poll.hpp"

namespace notify {

/// A counter at the target that every operation adds one to.
class Counter {
 public:
  explicit Counter(const Channel& channel) : partner_(channel.partner()), win_(channel.win()) {
    api_.create(win_, 1);
    api_.set(win_, index, 0);
    MPI_Win_lock_all(0, win_);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void reclaim() {}
  template <typename Transfer>
  void act(Transfer& transfer) {
    transfer.issue(api_, index);
    MPI_Win_flush(partner_, win_);
  }
  template <typename Transfer>
  void wait(const Transfer&, std::int64_t) {
    ++expected_;
    poll(
        [&] {
          MPI_Count value = 0;
          api_.value(win_, index, &value);
          return value >= expected_;
        },
        looks_per_progress, "the notification of the other rank");
  }
  void finish() {
    MPI_Win_unlock_all(win_);
    api_.free(win_);
  }

 private:
  static constexpr int index = 0;
  static constexpr int looks_per_progress = 100;  // each of which is an MPI call already

  CounterApi api_;
  int partner_;
  MPI_Win win_;
  MPI_Count expected_ = 0;
};

}  // namespace notify
