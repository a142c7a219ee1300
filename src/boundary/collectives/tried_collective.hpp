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
#include "core/collective/schedules/made_schedule.hpp"
#include "engine/tuning/exchange_times.hpp"
#include "engine/tuning/start_trial.hpp"

namespace oriel::boundary {

/// An alltoallv whose first starts are a trial of several algorithms, the candidates. All of them
/// are made beforehand, because a start must not wait for other ranks. The first candidate carries
/// out the two starts after the trial. The first of these also starts a reduce, which adds up the
/// ranks' times, and the second a bcast, which sends the sums to all ranks, so that all choose
/// alike.
class TriedCollective final : public CollectiveTask {
 public:
  /// `line`: the line of the measurement, without the times; see AutoChoice::tried().
  TriedCollective(const char* call, std::shared_ptr<CollectiveState> state, int rank,
                  ExchangeTimes::Line line)
      : call_(call), state_(std::move(state)), rank_(rank), line_(std::move(line)) {}

  /// Adds a candidate; the first one is a plan. `making`: the time of its making in microseconds.
  void add(Algorithm algorithm, std::unique_ptr<CollectiveTask> task, ScheduleMemory memory,
           double making);
  /// Makes the plans of the reduce and the bcast, on all ranks, after all candidates have been
  /// added. Raises errors. Without the process lock.
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
    Algorithm algorithm;
    std::unique_ptr<CollectiveTask> task;
    ScheduleMemory memory;
  };
  /// One of the two collectives that bring the sums of the times to all ranks.
  struct Telling {
    std::unique_ptr<CollectiveTask> task;
    ScheduleMemory memory;
  };

  Candidate& current() { return candidates_[current_]; }
  const Candidate& current() const { return candidates_[current_]; }
  /// The reduce or bcast that was started with the last start; null: neither.
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
  ExchangeTimes::Line line_;
  std::vector<Candidate> candidates_;
  std::size_t current_ = 0;
  std::array<Telling, 2> telling_;
  StartTrial trial_{0};
  std::uint64_t started_ = 0;
  bool settled_ = false;
  std::uint64_t began_ = 0;      // time of the last start in nanoseconds; 0: not measured, or over
  std::vector<double> medians_;  // by candidate
  std::vector<double> sums_;     // of all ranks' medians, by candidate
};

}  // namespace oriel::boundary
