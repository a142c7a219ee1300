// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/requests/persistent_requests.hpp"

#include <utility>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/lost_peers.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

PersistentRequests persistent_requests;

Failure PersistentRequest::start() {
  if (window_ == nullptr) return {MPI_ERR_REQUEST, "the request's window has been freed"};
  if (active_) return {MPI_ERR_REQUEST, "the request is active already; wait for it first"};
  active_ = true;
  lost_rank_ = -1;
  begin();
  return {};
}

Failure PersistentRequest::end(MPI_Status* status) {
  const Failure failed = describe(status);
  active_ = false;
  if (failed && window_ != nullptr) abandon();
  return failed;
}

Failure PersistentRequest::describe(MPI_Status* status) const {
  if (!active_) {
    make_empty(status);
    return {};
  }
  if (done()) {
    if (status != MPI_STATUS_IGNORE) describe_end(status);
    return {};
  }
  if (window_ == nullptr) return {MPI_ERR_REQUEST, "the request's window has been freed"};
  return lost_rank(*window_->carried, lost_rank_);
}

void PersistentRequest::look_for_lost(LostSources& sources) {
  if (!active_ || complete()) return;
  const int rank = lost(sources);
  if (rank >= 0 && sources.all_heard() && !complete()) lost_rank_ = rank;
}

int PersistentRequests::add(std::unique_ptr<PersistentRequest> request, MPI_Request* handle) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self.get(), &made);
  if (code != MPI_SUCCESS) return code;
  table_.insert(handle_key(made), request.get());
  if (request->once_) request->start();
  request->place_ = all_.size();
  all_.push_back(std::move(request));
  count_.store(all_.size(), std::memory_order_relaxed);
  *handle = made;
  return MPI_SUCCESS;
}

Failure PersistentRequests::end(MPI_Request* handle, PersistentRequest& request,
                                MPI_Status* status) {
  const Failure told = request.end(status);
  if (request.once_) {
    remove(*handle, request);
    host_mpi().Request_free(handle);
  }
  return told;
}

void PersistentRequests::remove(MPI_Request handle, PersistentRequest& request) {
  if (request.active_ && request.window_ != nullptr && !request.done()) request.abandon();
  table_.erase(handle_key(handle), &request);
  const std::size_t place = request.place_;
  std::swap(all_[place], all_.back());
  all_[place]->place_ = place;
  all_.pop_back();
  count_.store(all_.size(), std::memory_order_relaxed);
}

void PersistentRequests::cut_off(const BoundWindow& window) {
  for (const auto& request : all_) {
    if (request->window_ != &window) continue;
    // Other handles of the window may outlive this one.
    if (request->active_ && !request->done()) request->abandon();
    request->window_ = nullptr;
  }
}

void PersistentRequests::fail_lost() {
  if (!any()) return;
  const Guard guard(runtime.lock);
  LostSources sources;
  for (const auto& request : all_) request->look_for_lost(sources);
}

int report(const char* call, MPI_Win window, const Failure& failure) {
  if (!failure) return MPI_SUCCESS;
  if (window != MPI_WIN_NULL) return raise(window, call, failure);
  return raise(MPI_COMM_SELF, call, failure.error_class, failure.reason);
}

void make_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

}  // namespace oriel::boundary
