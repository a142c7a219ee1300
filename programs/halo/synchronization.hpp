// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>

#include "grid.hpp"

// One kind of synchronization per type: a step, given how to put to a side.
namespace halo {

/// Steps that leave nothing of their own to be completed.
struct Complete {
  void finish() {}
};

/// With the assertions of the paper's Figure 1.
class Fence : public Complete {
 public:
  Fence(MPI_Win win, const Grid&) : win_(win) {}
  template <typename Put>
  void step(Put&& put) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win_);
    for (int side = 0; side < sides; ++side) put(side);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win_);
  }

 private:
  MPI_Win win_;
};

class PostStart : public Complete {
 public:
  PostStart(MPI_Win win, const Grid& grid) : win_(win) {
    std::array<int, sides> ranks{};  // each neighbour once, on however many sides it is
    for (int side = 0; side < sides; ++side) ranks[side] = grid.neighbour(side);
    std::sort(ranks.begin(), ranks.end());
    const auto count = std::unique(ranks.begin(), ranks.end()) - ranks.begin();
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, static_cast<int>(count), ranks.data(), &neighbours_);
    MPI_Group_free(&all);
  }
  ~PostStart() { MPI_Group_free(&neighbours_); }
  PostStart(const PostStart&) = delete;
  PostStart& operator=(const PostStart&) = delete;

  template <typename Put>
  void step(Put&& put) {
    MPI_Win_post(neighbours_, 0, win_);
    MPI_Win_start(neighbours_, 0, win_);
    for (int side = 0; side < sides; ++side) put(side);
    MPI_Win_complete(win_);
    MPI_Win_wait(win_);
  }

 private:
  MPI_Win win_;
  MPI_Group neighbours_ = MPI_GROUP_NULL;
};

/// The only one after which a rank does not know whether its neighbours' data has arrived.
class SharedLock : public Complete {
 public:
  SharedLock(MPI_Win win, const Grid& grid) : win_(win), grid_(grid) {}
  template <typename Put>
  void step(Put&& put) {
    for (int side = 0; side < sides; ++side) {
      MPI_Win_lock(MPI_LOCK_SHARED, grid_.neighbour(side), 0, win_);
      put(side);
      MPI_Win_unlock(grid_.neighbour(side), win_);
    }
  }

 protected:
  MPI_Win win_;
  const Grid& grid_;
};

/// The same where an unlock does not wait for the target: the paper's section 7, by an info key of
/// Oriel that a host ignores.
class WeakLock : public SharedLock {
 public:
  WeakLock(MPI_Win win, const Grid& grid) : SharedLock(win, grid) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "oriel_weak_unlock", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
  }

  void finish() {
    MPI_Win_lock_all(0, win_);
    for (int side = 0; side < sides; ++side) MPI_Win_flush(grid_.neighbour(side), win_);
    MPI_Win_unlock_all(win_);
  }
};

}  // namespace halo
