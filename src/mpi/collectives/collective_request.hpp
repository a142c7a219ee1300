// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/startup/lifetime.hpp"

namespace oriel::mpi {

/// Carries out a persistent collective from its start to its end, by one of the algorithms. All
/// calls but wait_in_host() are made with the process lock and do not wait. Oriel's own part
/// allocates no memory.
class CollectiveTask {
 public:
  CollectiveTask() = default;
  virtual ~CollectiveTask() = default;
  CollectiveTask(const CollectiveTask&) = delete;
  CollectiveTask& operator=(const CollectiveTask&) = delete;

  virtual Failure start() = 0;
  /// Returns whether the last use has ended. Also advances the parts of it that no sweep advances.
  virtual bool done() = 0;
  /// The result of the last use, once done() is true.
  virtual Failure outcome() const { return {}; }
  /// Called if no wait for the present use follows and the task is not started again.
  virtual void abandon() = 0;
  /// True if the failure of the last use concerns that use only.
  virtual bool may_start_again() const { return false; }
  /// Called when the request is freed.
  virtual void let_go() {}
  /// If the host carries out the collective: waits in the host, which waits more efficiently, but
  /// only for a limited time, so that the caller can check for lost ranks. False: Oriel carries it
  /// out. Without the process lock.
  virtual bool wait_in_host() { return false; }
  /// A rank that the present use waits for and that has ended; -1: none.
  virtual int lost() = 0;
};

/// The caller of a collective: its rank in the communicator, and the number of ranks.
struct CollectiveCaller {
  int rank = 0;
  int ranks = 0;
};

/// Raises an error if the communicator is not valid, or is an intercommunicator.
int find_caller(const char* call, MPI_Comm communicator, CollectiveCaller& caller);

bool intercommunicator(MPI_Comm communicator);

/// The request of a persistent collective.
class CollectiveRequest final : public OwnRequest {
 public:
  CollectiveRequest(std::shared_ptr<CollectiveState> state, std::unique_ptr<CollectiveTask> task,
                    ScheduleMemory memory)
      : OwnRequest(Serves::again),
        state_(std::move(state)),
        task_(std::move(task)),
        memory_(std::move(memory)) {}

  ErrorTaker error_taker() const override;
  const Window* waits_on() const override { return state_->plan_window().core_window(); }
  bool wait_in_host() override { return task_->wait_in_host(); }
  Failure refuse_free() const override;

 private:
  Failure begin() override;
  void abandon() override;
  bool done() const override { return task_->done(); }
  Failure outcome() const override { return task_->outcome(); }
  void describe_end(MPI_Status* status) const override { make_empty(status); }
  int lost(LostSources&) const override { return task_->lost(); }
  Failure lost_failure(int rank) const override;
  void let_go() override { task_->let_go(); }

  std::shared_ptr<CollectiveState> state_;
  std::unique_ptr<CollectiveTask> task_;
  ScheduleMemory memory_;
  bool abandoned_ = false;
};

/// The first and the last step of each call that makes a persistent collective.
class CollectiveMaking {
 public:
  /// Opens the communicator's plan registry, on all ranks. Raises errors.
  int open(const char* call, MPI_Comm communicator);
  // After open():
  const std::shared_ptr<CollectiveState>& state() const { return state_; }
  PlanWindow& plan_window() { return state_->plan_window(); }

  /// Makes the request of a collective that the plan, or the task, carries out.
  int finish(Plan& plan, ScheduleMemory memory, MPI_Request* request);
  int finish(std::unique_ptr<CollectiveTask> task, ScheduleMemory memory, MPI_Request* request);

 private:
  EngineHold hold_;
  std::shared_ptr<CollectiveState> state_;
};

}  // namespace oriel::mpi
