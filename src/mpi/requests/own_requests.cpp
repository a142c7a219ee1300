// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests/own_requests.hpp"

#include <unordered_map>
#include <utility>

#include "engine/progress/lost_peers.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

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
  const int code = host_mpi().Grequest_start(query, free, cancel, &request, &made);
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
    host_mpi().Grequest_complete(request->handle_);
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
  host_mpi().Status_set_elements(status, MPI_BYTE, 0);
  host_mpi().Status_set_cancelled(status, 0);
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
  return host_mpi().Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self.get(), handle);
}

Failure PersistentRequest::start() {
  if (const Failure gone = cut_off()) return gone;
  if (active_) return {MPI_ERR_REQUEST, "the request is active already; wait for it first"};
  lost_rank_ = -1;
  const Failure failed = begin();
  active_ = !failed;
  return failed;
}

Failure PersistentRequest::end(MPI_Status* status) {
  const Failure failed = describe(status);
  active_ = false;
  if (failed && !cut_off()) abandon();
  return failed;
}

Failure PersistentRequest::describe(MPI_Status* status) const {
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

void PersistentRequest::check_lost(LostSources& sources) {
  if (!active_ || complete()) return;
  const int rank = lost(sources);
  if (rank >= 0 && sources.all_heard() && !complete()) lost_rank_ = rank;
}

int PersistentRequests::add(std::unique_ptr<PersistentRequest> request, MPI_Request* handle) {
  MPI_Request made = MPI_REQUEST_NULL;
  if (!spare_.empty()) {
    made = spare_.back();
    spare_.pop_back();
  } else if (const int code = host_mpi().Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                                                   runtime.self.get(), &made);
             code != MPI_SUCCESS) {
    return code;
  }
  table_.insert(handle_key(made), request.get());
  if (request->once_) request->start();
  request->position_ = all_.size();
  all_.push_back(std::move(request));
  count_.store(all_.size(), std::memory_order_relaxed);
  *handle = made;
  return MPI_SUCCESS;
}

Failure PersistentRequests::end(MPI_Request* handle, PersistentRequest& request,
                                MPI_Status* status) {
  const Failure failure = request.end(status);
  if (request.once_) {
    remove(*handle, request);
    *handle = MPI_REQUEST_NULL;
  }
  return failure;
}

std::unique_ptr<PersistentRequest> PersistentRequests::remove(MPI_Request handle,
                                                              PersistentRequest& request) {
  if (request.active_ && !request.cut_off() && !request.done()) request.abandon();
  request.let_go();
  table_.erase(handle_key(handle), &request);
  spare_.push_back(handle);
  const std::size_t position = request.position_;
  std::swap(all_[position], all_.back());
  all_[position]->position_ = position;
  std::unique_ptr<PersistentRequest> removed = std::move(all_.back());
  all_.pop_back();
  count_.store(all_.size(), std::memory_order_relaxed);
  return removed;
}

void PersistentRequests::forget() {
  for (const auto& request : all_) {
    if (request->active_ && !request->cut_off() && !request->done()) request->abandon();
  }
  all_.clear();
  table_.clear();
  count_.store(0, std::memory_order_relaxed);
}

void PersistentRequests::free_spare() {
  int ended = 0;
  host_mpi().Finalized(&ended);
  for (MPI_Request& handle : spare_) {
    if (ended == 0) host_mpi().Request_free(&handle);
  }
  spare_.clear();
}

void PersistentRequests::cut_off(const WindowHandle& window) {
  for (const auto& request : all_) request->cut_off_from(window);
}

void PersistentRequests::fail_lost() {
  if (!any()) return;
  const Guard guard(engine.lock);
  LostSources sources(engine.running()->process);
  for (const auto& request : all_) request->check_lost(sources);
}

int report(const char* call, const ErrorTaker& taker, const Failure& failure) {
  if (!failure) return MPI_SUCCESS;
  if (taker.window != MPI_WIN_NULL) return raise(taker.window, call, failure);
  return raise(taker.communicator, call, failure.error_class, failure.reason);
}

int refuse_null(const char* call) {
  return raise(MPI_COMM_NULL, call, MPI_ERR_ARG, "an argument is a null pointer");
}

void make_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  host_mpi().Status_set_elements(status, MPI_BYTE, 0);
  host_mpi().Status_set_cancelled(status, 0);
}

}  // namespace oriel::mpi
