// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "support/stress/mail.hpp"
#include "support/stress/own_windows.hpp"
#include "support/stress/passing.hpp"
#include "support/stress/transfers.hpp"
#include "support/stress/updates.hpp"

namespace stress {

/// What one thread does: steps, each of which is something else.
class Worker {
 public:
  Worker(Job& job, int thread)
      : self_(job, thread),
        transfers_(self_),
        updates_(self_),
        mail_(self_),
        passing_(self_),
        own_windows_(self_) {}

  void steps(int count) {
    const Where& where = here();
    Random same{self_.job.seed(), static_cast<std::uint64_t>(where.phase),
                static_cast<std::uint64_t>(where.round), static_cast<std::uint64_t>(self_.thread)};
    const int meeting = same.below(count);
    for (int i = 0; i < count; ++i) {
      here().step = i;
      step();
      if (i == meeting && where.round == 0) meet(same);
    }
  }
  /// Epochs of these kinds have been closed since the last step.
  void closed(bool passive_ones) {
    for (int i = 0; i < self_.job.windows(); ++i) {
      if (passive_ones || !passive(self_.job.window(i).epoch)) self_.pending.complete(i);
    }
  }

 private:
  Job& job() { return self_.job; }
  int below(int count) { return self_.random.below(count); }

  /// With the same thread of all ranks, which have the same random numbers.
  void meet(Random& same) {
    own_windows_.together(same);
    Goal goal{same.below(job().regions()), same.below(job().ranks())};
    // Each phase has one for all.
    while (self_.epoch(goal) != Epoch::everybody) goal.region = same.below(job().regions());
    MPI_Barrier(job().comm(self_.thread).all);
    updates_.hammer(goal);
  }

  void step() {
    const Goal goal{below(job().regions()), below(job().ranks())};
    switch (self_.epoch(goal)) {
      case Epoch::everybody:
        return anything(goal);
      case Epoch::single:
        return locked(goal);
      default:
        if (!job().region(goal.region).by_handle) active(goal);
    }
  }

  void active(Goal goal) {
    const int kind = below(20);
    if (kind < 11) return transfers_.any(goal);
    if (kind < 19) return updates_.any(goal);
    passing_.duplicate(goal);
  }
  /// In any epoch that is open to this target alone.
  void at_target(Goal goal) {
    const int kind = below(100);
    if (kind < 45) return transfers_.any(goal);
    if (kind < 63) return updates_.any(goal);
    if (kind < 75) return updates_.fetching(goal);
    if (kind < 83) return self_.pending.wait(self_.random.chance(50));
    if (kind < 90) return self_.flush(goal);
    if (kind < 95) return self_.flush_local(goal);
    if (kind < 98) return passing_.duplicate(goal);
    own_windows_.alone();
  }
  void anything(Goal goal) {
    const int kind = below(100);
    if (kind < 80) return at_target(goal);
    if (kind < 87) return mail_.send(goal.region);
    if (kind < 93) return mail_.read(goal.region);
    // Only a dynamic window has pieces and memory handles.
    if (job().region(goal.region).memory == nullptr) return at_target(goal);
    if (job().region(goal.region).by_handle || kind < 96) {
      return passing_.memory_handle(goal.region);
    }
    passing_.piece(goal.region);
  }

  /// Locks of one window and different targets are different threads'.
  void locked(Goal goal) {
    const int window = job().region(goal.region).window;
    const Where& where = here();
    const int turn = goal.target + window + where.round;
    if (turn % job().threads() != self_.thread) return;
    const bool exclusive = self_.random.chance(40);
    MUST(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, goal.target, 0,
                      any_handle(window)));
    for (int i = 1 + below(5); i > 0; --i) at_target({any_region(window), goal.target});
    if (exclusive) updates_.count_alone(goal);
    MUST(MPI_Win_unlock(goal.target, any_handle(window)));
    self_.pending.complete(window, goal.target);
  }
  MPI_Win any_handle(int window) {
    const auto& handles = job().window(window).handles;
    return handles[self_.random.below(handles.size())].win;
  }
  int any_region(int window) {
    int region = below(job().regions());
    while (job().region(region).window != window) region = below(job().regions());
    return region;
  }

  Self self_;
  Transfers transfers_;
  Updates updates_;
  Mail mail_;
  Passing passing_;
  OwnWindows own_windows_;
};

}  // namespace stress
