// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

// One kind of synchronization per type. `both` tells whether both ranks play rounds, each with the
// other one as its target; otherwise rank 0 plays and rank 1 is the target.
namespace micro {

/// Rounds of operation and flush within one lock_all epoch.
class Flush {
 public:
  static constexpr bool both = false;
  Flush(MPI_Win win, int target) : win_(win), target_(target) { MPI_Win_lock_all(0, win_); }
  template <typename Operation>
  void round(Operation&& operation) {
    operation();
    MPI_Win_flush(target_, win_);
  }
  void finish() { MPI_Win_unlock_all(win_); }

 private:
  MPI_Win win_;
  int target_;
};

class ExclusiveLock {
 public:
  static constexpr bool both = false;
  ExclusiveLock(MPI_Win win, int target) : win_(win), target_(target) {}
  template <typename Operation>
  void round(Operation&& operation) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target_, 0, win_);
    operation();
    MPI_Win_unlock(target_, win_);
  }
  void finish() {}

 private:
  MPI_Win win_;
  int target_;
};

class Fence {
 public:
  static constexpr bool both = true;
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
  static constexpr bool both = true;
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

}  // namespace micro
