// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/collectives/collective_request.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "boundary/host/host.hpp"
#include "boundary/startup/lifetime.hpp"
#include "core/collective/plan.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
