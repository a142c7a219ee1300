// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/stress/pending.hpp"

namespace stress {

/// One of the threads that share a job.
class Self {
 public:
  Self(Job& shared, int number)
      : job(shared),
        thread(number),
        random{shared.seed(), static_cast<std::uint64_t>(shared.rank()),
               static_cast<std::uint64_t>(number)},
        pending(shared) {}

  Job& job;
  const int thread;
  Random random;
  Pending pending;

  Epoch epoch(Goal goal) { return job.window_of(goal.region).epoch; }
  MPI_Win any_handle(Goal goal) { return job.handle(goal, random).win; }
  MPI_Aint displacement(Goal goal, MPI_Aint offset) {
    return job.region(goal.region).displacement(goal.target, offset);
  }
  MPI_Aint displacement(Goal goal, Area::Word word) { return displacement(goal, Area::word(word)); }

  /// Completes what this thread has under way to the goal's rank, in one of many manners.
  void flush(Goal goal) {
    const int window = job.region(goal.region).window;
    if (random.chance(25) && epoch(goal) == Epoch::everybody) {
      const auto& handles = job.window(window).handles;
      MUST(MPI_Win_flush_all(handles[random.below(handles.size())].win));
      return pending.complete(window);
    }
    if (random.chance(25)) {
      MPI_Request request = MPI_REQUEST_NULL;
      MUST(nonblocking().Win_iflush(goal.target, any_handle(goal), &request));
      MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      MUST(MPI_Win_flush(goal.target, any_handle(goal)));
    }
    pending.complete(window, goal.target);
  }
  void flush_local(Goal goal) {
    const int window = job.region(goal.region).window;
    if (random.chance(25) && epoch(goal) == Epoch::everybody) {
      MUST(MPI_Win_flush_local_all(job.window(window).first()));
      return pending.complete_here(window);
    }
    MUST(MPI_Win_flush_local(goal.target, any_handle(goal)));
    pending.complete_here(window, goal.target);
  }
};

}  // namespace stress
