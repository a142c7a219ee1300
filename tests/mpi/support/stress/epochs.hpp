// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/stress/job.hpp"

namespace stress {

/// Opens and closes the epochs of all windows, each by any of its handles.
class Epochs {
 public:
  explicit Epochs(Job& job) : job_(job) { MPI_Comm_group(MPI_COMM_WORLD, &world_); }
  ~Epochs() { MPI_Group_free(&world_); }
  Epochs(const Epochs&) = delete;
  Epochs& operator=(const Epochs&) = delete;

  void open(int phase) {
    // Of each window, the same on all ranks.
    Random kinds{job_.seed(), static_cast<std::uint64_t>(phase)};
    for (int i = 0; i < job_.windows(); ++i) {
      // Most of a program's threads meet in passive epochs; each phase has one for all.
      constexpr Epoch all[] = {Epoch::everybody, Epoch::everybody, Epoch::single, Epoch::fence,
                               Epoch::exposed};
      job_.window(i).epoch = i == phase % job_.windows() ? Epoch::everybody : all[kinds.below(5)];
      open(job_.window(i));
    }
  }
  void renew() {
    for (int i = 0; i < job_.windows(); ++i) {
      Window& window = job_.window(i);
      if (window.epoch == Epoch::fence) MUST(MPI_Win_fence(0, any(window)));
      if (window.epoch != Epoch::exposed) continue;
      close(window);
      open(window);
    }
  }
  void close() {
    for (int i = 0; i < job_.windows(); ++i) close(job_.window(i));
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  MPI_Win any(const Window& window) { return window.handles[++used_ % window.handles.size()].win; }
  void open(const Window& window) {
    switch (window.epoch) {
      case Epoch::everybody:
        MUST(MPI_Win_lock_all(0, any(window)));
        break;
      case Epoch::single:
        break;  // the threads lock
      case Epoch::fence:
        MUST(MPI_Win_fence(MPI_MODE_NOPRECEDE, any(window)));
        break;
      case Epoch::exposed:
        MUST(MPI_Win_post(world_, 0, any(window)));
        MUST(MPI_Win_start(world_, 0, any(window)));
    }
  }
  void close(const Window& window) {
    switch (window.epoch) {
      case Epoch::everybody:
        MUST(MPI_Win_unlock_all(any(window)));
        break;
      case Epoch::single:
        break;
      case Epoch::fence:
        MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, any(window)));
        break;
      case Epoch::exposed:
        MUST(MPI_Win_complete(any(window)));
        MUST(MPI_Win_wait(any(window)));
    }
  }

  Job& job_;
  MPI_Group world_ = MPI_GROUP_NULL;
  std::size_t used_ = 0;
};

}  // namespace stress
