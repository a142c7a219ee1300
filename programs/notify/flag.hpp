// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "channel.hpp"
#include "job.hpp"
#include "payload.hpp"
#include "poll.hpp"

namespace notify {

/// A word in either rank's window that the other one puts, to be looked at without an MPI call:
/// what programs do that have no notifications.
class Flag {
 public:
  explicit Flag(const Job& job) : channel_(job, sizeof(Word)) {
    channel_.own_part().front() = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, channel_.win());
  }
  ~Flag() { MPI_Win_unlock_all(channel_.win()); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  /// The other rank's. What was flushed before is there when the flag is.
  void raise() {
    ++raised_;
    MPI_Put(&raised_, 1, MPI_INT64_T, channel_.partner(), 0, 1, MPI_INT64_T, channel_.win());
    MPI_Win_flush(channel_.partner(), channel_.win());
  }
  /// Until one's own has been raised once more. On one node most looks are loads only.
  void await() {
    ++awaited_;
    const std::atomic_ref<Word> flag(channel_.own_part().front());
    poll([&] { return flag.load(std::memory_order_acquire) >= awaited_; },
         channel_.job().one_node ? 10'000 : 1, "the flag of the other rank");
  }

 private:
  Channel channel_;
  Word raised_ = 0;
  Word awaited_ = 0;
};

/// The transfer, a flush, and a flag behind it.
class FlagBehind {
 public:
  explicit FlagBehind(const Channel& channel)
      : partner_(channel.partner()), win_(channel.win()), flag_(channel.job()) {
    MPI_Win_lock_all(0, win_);
  }

  void reclaim() {}
  template <typename Transfer>
  void act(Transfer& transfer) {
    transfer.issue();
    MPI_Win_flush(partner_, win_);
    flag_.raise();
  }
  template <typename Transfer>
  void wait(const Transfer&, std::int64_t) {
    flag_.await();
    MPI_Win_sync(win_);
  }
  void finish() { MPI_Win_unlock_all(win_); }

 private:
  int partner_;
  MPI_Win win_;
  Flag flag_;
};

}  // namespace notify
