// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/collective_request.hpp"

#include <string>

namespace oriel::boundary {

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

}  // namespace oriel::boundary
