// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests/own_request.hpp"

#include "mpi/requests/own_requests.hpp"

namespace oriel::mpi {
namespace {

constexpr int some_rank = 0;  // lost_failure() of a pending request names none

}  // namespace

Failure OwnRequest::start() {
  if (const Failure gone = cut_off()) return gone;
  if (active_) return {MPI_ERR_REQUEST, "the request is active already; wait for it first"};
  const Failure failed = begin();
  if (!failed) activate();
  return failed;
}

Failure OwnRequest::end(MPI_Status* status) {
  const Failure failed = describe(status);
  active_ = false;
  if (failed && !cut_off()) abandon();
  return failed;
}

Failure OwnRequest::describe(MPI_Status* status) const {
  if (!active_) {
    make_empty(status);
    return {};
  }
  if (done()) {
    if (status != MPI_STATUS_IGNORE) describe_end(status);
    return outcome();
  }
  if (const Failure gone = cut_off()) return gone;
  return lost_failure(lost_rank_);
}

void OwnRequest::check_lost(LostSources& sources) {
  if (!active_ || complete()) return;
  const int rank = lost(sources);
  if (rank >= 0 && sources.all_heard() && !complete()) lost_rank_ = rank;
}

void PendingRequest::let_go() {
  if (done_) own_requests.give_back(*this);
}

void PendingRequest::complete(Error error) {
  error_ = error;
  done_ = true;
  if (!active()) own_requests.give_back(*this);
}

ErrorTaker PendingRequest::error_taker() const {
  return {.window = window_ != nullptr ? window_->handle : MPI_WIN_NULL,
          .wait = "A wait for a request"};
}

Failure PendingRequest::outcome() const {
  return failure(error_, error_ == Error::peer_lost
                             ? "a process of the window has ended, so this request cannot complete"
                             : "an operation that this request covers failed");
}

void PendingRequest::describe_end(MPI_Status* status) const {
  make_empty(status);
}

int PendingRequest::lost(LostSources& sources) const {
  if (window_ == nullptr) return -1;
  if (awaits_anybody_) return sources.of(*window_->core, -1);
  return sources.awaited(*window_->core) ? some_rank : -1;
}

Failure PendingRequest::lost_failure(int) const {
  return failure(Error::peer_lost,
                 "a process of the window has ended, so this request cannot complete");
}

void PendingRequest::cut_off_from(const WindowHandle& window) {
  if (window_ == &window) window_ = nullptr;
}

}  // namespace oriel::mpi
