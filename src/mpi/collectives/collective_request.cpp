// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/collective_request.hpp"

#include <string>
#include <utility>

#include "mpi/collectives/leaving_windows.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

bool intercommunicator(MPI_Comm communicator) {
  int inter = 0;
  return host_mpi().Comm_test_inter(communicator, &inter) == MPI_SUCCESS && inter != 0;
}

int find_caller(const char* call, MPI_Comm communicator, CollectiveCaller& caller) {
  if (communicator == MPI_COMM_NULL) {
    return raise(MPI_COMM_NULL, call, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  }
  // The host raises other errors of the communicator.
  if (const int code = host_mpi().Comm_rank(communicator, &caller.rank); code != MPI_SUCCESS)
    return code;
  if (const int code = host_mpi().Comm_size(communicator, &caller.ranks); code != MPI_SUCCESS) {
    return code;
  }
  if (!intercommunicator(communicator)) return MPI_SUCCESS;
  return raise(communicator, call, MPI_ERR_COMM,
               "the communicator is an intercommunicator; use the MPI library's own call");
}

ErrorTaker CollectiveRequest::error_taker() const {
  return {.communicator = state_->communicator(), .wait = "A wait for a persistent collective"};
}

Failure CollectiveRequest::begin() {
  if (abandoned_) {
    return {MPI_ERR_REQUEST, "the collective has failed before; its request can only be freed"};
  }
  return task_->start();
}

// Other ranks may still write to the receive buffer, which the program may free afterwards.
Failure CollectiveRequest::refuse_free() const {
  if (!active()) return {};
  return {MPI_ERR_REQUEST, "the collective is active; wait for it first"};
}

void CollectiveRequest::abandon() {
  if (task_->may_start_again()) return;
  abandoned_ = true;
  task_->abandon();
}

Failure CollectiveRequest::lost_failure(int rank) const {
  return said(MPI_ERR_OTHER, "rank " + std::to_string(rank) +
                                 " of the communicator has ended or cannot be reached, so this "
                                 "call cannot complete");
}

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
  return own_requests.add(
      std::make_unique<CollectiveRequest>(state_, std::move(task), std::move(memory)), request);
}

}  // namespace oriel::mpi
