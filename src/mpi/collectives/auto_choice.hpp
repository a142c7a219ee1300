// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"
#include "engine/tuning/exchange_times.hpp"
#include "engine/tuning/start_trial.hpp"
#include "engine/tuning/tuner.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The Tuner of this process. The first call reads a file; the use of the result takes the process
/// lock.
Tuner& tuner();

/// The algorithm that `auto` selects for one request of an alltoallv. Rank 0 asks its Tuner. The
/// other ranks receive the choice in words that the making of the plan exchanges anyway.
class AutoChoice {
 public:
  AutoChoice(const char* call, CollectiveState& state, int rank, int ranks)
      : call_(call), state_(state), rank_(rank), ranks_(ranks) {}

  /// The terms for the making of the plan, during which this object exists. `host_accepts`: the
  /// host's own call accepts the arguments. `starts`: the number of starts of the request, if this
  /// rank knows it. Without the process lock, because the first call reads a file.
  PlanTerms terms(bool host_accepts, std::optional<std::uint64_t> starts);
  /// The algorithm, the same on all ranks, after the plan has been made; `automatic`: the first
  /// starts are a trial. With ORIEL_INFO rank 0 prints the reason.
  Algorithm made_by(const Plan& plan) const;
  /// For a trial: the line of its measurement, without the times.
  ExchangeTimes::Line tried() const;

  /// Prints the choice and its reason if ORIEL_INFO is set. Only on rank 0.
  static void report(const char* call, int ranks, const char* chosen, const std::string& why);

 private:
  std::uint8_t choose(std::uint64_t longest);
  bool several_nodes() const;
  bool gathers() const;
  std::string reason() const;

  const char* call_;
  CollectiveState& state_;
  int rank_;
  int ranks_;
  // Used on rank 0 only:
  bool asked_ = false;
  bool crowded_ = false;
  std::optional<std::uint64_t> starts_;
  std::uint64_t longest_ = 0;
  std::optional<ExchangeTimes::Line> line_;
};

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
  int make_sum_collectives(MPI_Comm communicator);

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
  struct SumCollective {
    std::unique_ptr<CollectiveTask> task;
    ScheduleMemory memory;
  };

  Candidate& current() { return candidates_[current_]; }
  const Candidate& current() const { return candidates_[current_]; }
  /// The reduce or bcast that was started with the last start; null: neither.
  CollectiveTask* sum_collective() const {
    if (started_ <= trial_.starts()) return nullptr;
    const std::uint64_t after = started_ - trial_.starts();
    return after - 1 < sum_collectives_.size() ? sum_collectives_[after - 1].task.get() : nullptr;
  }
  int make_sum_collectives(MPI_Comm communicator, SumCollective& collective, CollectiveKind kind,
                           MadeSchedule made, const Failure& bad);
  void decide();

  const char* call_;
  std::shared_ptr<CollectiveState> state_;
  int rank_;
  ExchangeTimes::Line line_;
  std::vector<Candidate> candidates_;
  std::size_t current_ = 0;
  std::array<SumCollective, 2> sum_collectives_;
  StartTrial trial_{0};
  std::uint64_t started_ = 0;
  bool decided_ = false;
  std::uint64_t began_ = 0;      // time of the last start in nanoseconds; 0: not measured, or over
  std::vector<double> medians_;  // by candidate
  std::vector<double> sums_;     // of all ranks' medians, by candidate
};

}  // namespace oriel::mpi
