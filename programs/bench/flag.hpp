// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "failure.hpp"

namespace bench {

/// What a program without notified access does to tell a target that data is there: it flushes the
/// data, sets a flag in the target's memory and flushes that, in a lock_all epoch. The target polls
/// the flag, which the unified memory model allows.
class Flag {
 public:
  explicit Flag(MPI_Win win) : win_(win) {
    int* model = nullptr;
    int found = 0;
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
    if (!found || *model != MPI_WIN_UNIFIED) {
      fail(
          "a flag can only be polled in a window of the unified memory model, and this MPI's has "
          "the separate one; measure the other variants, each by --variant.");
    }
    MPI_Win_lock_all(0, win_);
  }
  ~Flag() { MPI_Win_unlock_all(win_); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  /// Sets the flag at the target, behind all operations that were issued to it.
  void set(int target, MPI_Aint displacement, std::int64_t value) const {
    MPI_Win_flush(target, win_);
    // Accumulates are atomic per element, so that the target never reads half a flag.
    MPI_Accumulate(&value, 1, MPI_INT64_T, target, displacement, 1, MPI_INT64_T, MPI_REPLACE, win_);
    MPI_Win_flush(target, win_);
  }

  /// Waits until the flag in this rank's own memory has the value; what was put before it may be
  /// read then.
  void wait(std::int64_t& flag, std::int64_t value) const {
    const std::atomic_ref<std::int64_t> polled(flag);
    double begin = 0;
    for (int polls = 1; polled.load(std::memory_order_acquire) != value; ++polls) {
      MPI_Win_sync(win_);
      if (polls % polls_per_progress) continue;
      make_progress();
      if (begin == 0) begin = MPI_Wtime();
      if (MPI_Wtime() - begin < limit_s) continue;
      fail("no rank has set a flag to " + std::to_string(value) + " for " +
           std::to_string(limit_s) + " s; look for a rank that has stopped.");
    }
    MPI_Win_sync(win_);
  }

 private:
  static constexpr int polls_per_progress = 100;
  static constexpr int limit_s = 120;

  /// Some hosts carry out what others put here only in this rank's own calls; and who has to set
  /// the flag may be waiting for this core.
  static void make_progress() {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    sched_yield();
  }

  MPI_Win win_;
};

}  // namespace bench
