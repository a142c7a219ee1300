// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "boundary/collectives/collective_state.hpp"
#include "boundary/collectives/collective_task.hpp"
#include "boundary/collectives/signature.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/measured.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/start_trial.hpp"

namespace oriel::boundary {

/// An alltoallv whose first starts show by which of several algorithms it is carried out. Each is
/// made beforehand, because a start does not wait for other ranks. The two starts after the trial
/// go by the first one. Beside them a reduce adds up what the ranks have measured, and a bcast
/// tells all ranks the sums, so that they choose alike.
class TriedCollective final : public CollectiveTask {
 public:
  /// `line`: what the trial measures, but for the times; see AutoChoice::tried().
  TriedCollective(const char* call, std::shared_ptr<CollectiveState> state, int rank,
                  Measured::Line line)
      : call_(call), state_(std::move(state)), rank_(rank), line_(std::move(line)) {}

  /// One more, the first one a plan, and in microseconds what its making took.
  void add(Measured::Choice choice, std::unique_ptr<CollectiveTask> task, ScheduleMemory memory,
           double making);
  /// When all have been added, on all ranks: makes the plans of the reduce and the bcast. Raises
  /// what is wrong. Without the process lock.
  int make_telling(MPI_Comm communicator);

  Failure start() override;
  bool done() override;
  Failure outcome() const override;
  void abandon() override;
  bool may_start_again() const override;
  void let_go() override;
  bool wait_in_host() override { return current().task->wait_in_host(); }
  int lost() override;

 private:
  struct Candidate {
    Measured::Choice choice;
    std::unique_ptr<CollectiveTask> task;
    ScheduleMemory memory;
  };
  /// One of the two by which the ranks tell one another.
  struct Telling {
    std::unique_ptr<CollectiveTask> task;
    ScheduleMemory memory;
  };

  Candidate& current() { return candidates_[current_]; }
  const Candidate& current() const { return candidates_[current_]; }
  /// The one beside the last start; null: there is none.
  CollectiveTask* telling() const {
    if (started_ <= trial_.starts()) return nullptr;
    const std::uint64_t after = started_ - trial_.starts();
    return after - 1 < telling_.size() ? telling_[after - 1].task.get() : nullptr;
  }
  int make_telling(MPI_Comm communicator, Telling& telling, CollectiveKind kind, MadeSchedule made,
                   const Failure& bad);
  void settle();

  const char* call_;
  std::shared_ptr<CollectiveState> state_;
  int rank_;
  Measured::Line line_;
  std::vector<Candidate> candidates_;
  std::size_t current_ = 0;
  std::array<Telling, 2> telling_;
  StartTrial trial_{0};
  std::uint64_t started_ = 0;
  bool settled_ = false;
  std::uint64_t began_ = 0;      // the last start, in nanoseconds; 0: it does not count, or is over
  std::vector<double> medians_;  // by candidate
  std::vector<double> sums_;     // of all ranks
};

}  // namespace oriel::boundary
