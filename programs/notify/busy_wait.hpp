// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "channel.hpp"
#include "poll.hpp"
#include "put.hpp"

namespace notify {

/// The paper's lower bound: the receiver looks at the first and the last word of the payload
/// itself. No correct program can do this, because nothing says that what is in between has come.
class BusyWait {
 public:
  explicit BusyWait(const Channel& channel)
      : partner_(channel.partner()),
        win_(channel.win()),
        looks_per_progress_(channel.job().one_node ? 1000 : 1) {
    MPI_Win_lock_all(0, win_);
  }

  void reclaim() {}
  void act(Put& put) {
    put.issue();
    MPI_Win_flush(partner_, win_);
  }
  void wait(const Put& put, std::int64_t round) {
    const std::atomic_ref<Word> first(put.incoming().front());
    const std::atomic_ref<Word> last(put.incoming().back());
    poll(
        [&] {
          return first.load(std::memory_order_acquire) == round &&
                 last.load(std::memory_order_acquire) == round;
        },
        looks_per_progress_, "the payload of the other rank");
  }
  void finish() { MPI_Win_unlock_all(win_); }

 private:
  int partner_;
  MPI_Win win_;
  int looks_per_progress_;
};

}  // namespace notify
