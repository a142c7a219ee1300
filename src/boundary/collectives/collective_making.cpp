// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/collective_making.hpp"

#include <utility>

#include "boundary/collectives/leaving_windows.hpp"
#include "boundary/collectives/plan_collective.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

int CollectiveMaking::open(const char* call, MPI_Comm communicator) {
  leaving_windows.reap();
  if (!hold_) return raise(communicator, call, MPI_ERR_OTHER, hold_.error());
  state_ = CollectiveState::of(communicator);
  if (state_ == nullptr) {
    return raise(communicator, call, MPI_ERR_OTHER,
                 "the MPI library lets no attribute be set on the communicator");
  }
  return plan_window().open(call, communicator);
}

int CollectiveMaking::finish(Plan& plan, ScheduleMemory memory, MPI_Request* request) {
  return finish(std::make_unique<PlanCollective>(state_, plan), std::move(memory), request);
}

int CollectiveMaking::finish(std::unique_ptr<CollectiveTask> task, ScheduleMemory memory,
                             MPI_Request* request) {
  const Guard guard(engine.lock);
  return own_requests.persistent.add(
      std::make_unique<CollectiveRequest>(state_, std::move(task), std::move(memory)), request);
}

}  // namespace oriel::boundary
