// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/requests/pending_requests.hpp"

#include <unordered_map>

#include "boundary/host/error_sentences.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/runtime.hpp"
#include "engine/progress/lost_peers.hpp"

namespace oriel::boundary {

OwnRequests own_requests;

void PendingRequest::complete(Error error) {
  own_requests.pending.complete(*this, error);
}

PendingRequest& PendingRequests::acquire(const WindowHandle& window) {
  const Guard guard(engine.request_lock);
  if (unused_.empty()) unused_.push_back(&all_.emplace_back());
  PendingRequest& request = *unused_.back();
  unused_.pop_back();
  request = PendingRequest();
  request.window_ = window.core;
  return request;
}

void PendingRequests::withdraw(PendingRequest& request) {
  const Guard guard(engine.request_lock);
  unused_.push_back(&request);
}

int PendingRequests::hand_out(PendingRequest& request, MPI_Request* handle) {
  live_.fetch_add(1, std::memory_order_relaxed);
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = PMPI_Grequest_start(query, free, cancel, &request, &made);
  if (code != MPI_SUCCESS) {
    live_.fetch_sub(1, std::memory_order_relaxed);
    return code;  // the core still holds the object, but no call waits for it
  }
  *handle = made;
  const Guard guard(engine.request_lock);
  request.handle_ = made;
  request.handed_out_ = true;
  by_handle_.insert(handle_key(made), &request);
  // Another thread's sweep may have completed the request meanwhile.
  if (!request.held_) queue(request);
  return MPI_SUCCESS;
}

void PendingRequests::complete(PendingRequest& request, Error error) {
  const Guard guard(engine.request_lock);
  request.held_ = false;
  if (request.queued_) {  // failed before, because of a lost peer
    recycle_if_unused(request);
    return;
  }
  request.error_ = error;
  if (request.handed_out_) queue(request);
}

void PendingRequests::queue(PendingRequest& request) {
  request.queued_ = true;
  to_complete_.push_back(&request);
  to_complete_count_.fetch_add(1, std::memory_order_relaxed);
}

void PendingRequests::recycle_if_unused(PendingRequest& request) {
  if (!request.held_ && request.host_knows_ && request.freed_) unused_.push_back(&request);
}

bool PendingRequests::complete_at_host() {
  if (!any_to_complete()) return false;
  std::vector<PendingRequest*> ready;
  {
    const Guard guard(engine.request_lock);
    ready.swap(to_complete_);
    to_complete_count_.fetch_sub(ready.size(), std::memory_order_relaxed);
  }
  for (PendingRequest* request : ready) {
    PMPI_Grequest_complete(request->handle_);
    live_.fetch_sub(1, std::memory_order_relaxed);
    const Guard guard(engine.request_lock);
    request->host_knows_ = true;
    recycle_if_unused(*request);
  }
  return !ready.empty();
}

void PendingRequests::fail_lost() {
  const Guard engine_guard(engine.lock);
  const Guard guard(engine.request_lock);
  // look_for_lost_peers() makes system calls for every peer: call it once for each window.
  std::unordered_map<const Window*, bool> lost;
  Process& process = engine.running()->process;
  LostSources sources(process);
  for (PendingRequest& request : all_) {
    if (!request.handed_out_ || !request.held_ || request.queued_) continue;
    if (request.awaits_anybody_) {
      if (sources.of(*request.window_, -1) < 0) continue;
    } else {
      const auto [window, unseen] = lost.try_emplace(request.window_);
      if (unseen) window->second = bool(look_for_lost_peers(process, *request.window_));
      if (!window->second) continue;
    }
    request.error_ = Error::peer_lost;
    queue(request);
  }
}

bool PendingRequests::all_pending(int count, const MPI_Request* requests) const {
  const Guard guard(engine.request_lock);
  bool any = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    if (by_handle_.find(handle_key(requests[i])) == nullptr) return false;
    any = true;
  }
  return any;
}

bool PendingRequests::incomplete_at_host(MPI_Request handle) const {
  const Guard guard(engine.request_lock);
  const PendingRequest* request = by_handle_.find(handle_key(handle));
  return request != nullptr && !request->host_knows_;
}

int PendingRequests::query(void* state, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  const Error error = static_cast<PendingRequest*>(state)->error_;
  if (error == Error::none) return MPI_SUCCESS;
  return error_code(error_class(error), error == Error::peer_lost
                                            ? "A process of the window has ended, so this request "
                                              "cannot complete."
                                            : "An operation that this request covers failed.");
}

int PendingRequests::free(void* state) {
  auto& request = *static_cast<PendingRequest*>(state);
  const Guard guard(engine.request_lock);
  request.freed_ = true;
  own_requests.pending.by_handle_.erase(handle_key(request.handle_), &request);
  own_requests.pending.recycle_if_unused(request);
  return MPI_SUCCESS;
}

int PendingRequests::cancel(void*, int) {
  return MPI_SUCCESS;
}

int completed_request(MPI_Request* handle) {
  return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self.get(), handle);
}

}  // namespace oriel::boundary
