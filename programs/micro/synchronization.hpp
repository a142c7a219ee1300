// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

// One kind of synchronization per type. `players` tells which ranks play rounds.
namespace micro {

/// The first rank of each pair plays, and the second is its target; or both play, each with the
/// other one as its target; or all ranks of the job play, with rank 0 as their target.
enum class Players { first, both, all };

/// Rounds of operation and flush, or its local form, within one lock_all epoch; or with a flush
/// behind so many operations only.
template <int (*flush)(int, MPI_Win), std::int64_t row = 1>
class Flushes {
 public:
  static constexpr Players players = Players::first;
  Flushes(MPI_Win win, int target) : win_(win), target_(target) { MPI_Win_lock_all(0, win_); }
  template <typename Operation>
  void round(Operation&& operation) {
    operation();
    if (row == 1 || ++issued_ % row == 0) flush(target_, win_);
  }
  void finish() { MPI_Win_unlock_all(win_); }

 private:
  MPI_Win win_;
  int target_;
  std::int64_t issued_ = 0;
};
using Flush = Flushes<MPI_Win_flush>;
using FlushLocal = Flushes<MPI_Win_flush_local>;
template <std::int64_t row>
using FlushAfter = Flushes<MPI_Win_flush, row>;

template <bool exclusive>
class Lock {
 public:
  static constexpr Players players = Players::first;
  Lock(MPI_Win win, int target) : win_(win), target_(target) {}
  template <typename Operation>
  void round(Operation&& operation) {
    MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target_, 0, win_);
    operation();
    MPI_Win_unlock(target_, win_);
  }
  void finish() {}

 private:
  MPI_Win win_;
  int target_;
};
using ExclusiveLock = Lock<true>;
using SharedLock = Lock<false>;

class LockAll {
 public:
  static constexpr Players players = Players::first;
  LockAll(MPI_Win win, int) : win_(win) {}
  template <typename Operation>
  void round(Operation&& operation) {
    MPI_Win_lock_all(0, win_);
    operation();
    MPI_Win_unlock_all(win_);
  }
  void finish() {}

 private:
  MPI_Win win_;
};

class Fence {
 public:
  static constexpr Players players = Players::both;
  Fence(MPI_Win win, int) : win_(win) { MPI_Win_fence(MPI_MODE_NOPRECEDE, win_); }
  template <typename Operation>
  void round(Operation&& operation) {
    operation();
    MPI_Win_fence(0, win_);
  }
  void finish() { MPI_Win_fence(MPI_MODE_NOSUCCEED, win_); }

 private:
  MPI_Win win_;
};

/// Post, start, complete, wait: both ranks are origin and target in every round.
class PostStart {
 public:
  static constexpr Players players = Players::both;
  PostStart(MPI_Win win, int target) : win_(win) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &target, &partner_);
    MPI_Group_free(&all);
  }
  template <typename Operation>
  void round(Operation&& operation) {
    MPI_Win_post(partner_, 0, win_);
    MPI_Win_start(partner_, 0, win_);
    operation();
    MPI_Win_complete(win_);
    MPI_Win_wait(win_);
  }
  void finish() { MPI_Group_free(&partner_); }

 private:
  MPI_Win win_;
  MPI_Group partner_ = MPI_GROUP_NULL;
};

/// `Synchronization`, played by all ranks with rank 0 as their target.
template <typename Synchronization>
class Contended : public Synchronization {
 public:
  static constexpr Players players = Players::all;
  using Synchronization::Synchronization;
};

}  // namespace micro
