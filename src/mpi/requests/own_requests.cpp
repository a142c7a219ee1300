// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests/own_requests.hpp"

#include <utility>

#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

OwnRequests own_requests;

/// A spare handle, or a new one of the host's. Returns the host's code.
int OwnRequests::new_handle(MPI_Request* handle) {
  if (spare_.empty()) {
    return host_mpi().Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self.get(), handle);
  }
  *handle = spare_.back();
  spare_.pop_back();
  return MPI_SUCCESS;
}

int OwnRequests::make_complete() {
  const Guard guard(engine.lock);
  if (given_.load(std::memory_order_relaxed)) return MPI_SUCCESS;
  const int code = new_handle(&complete_);
  if (code == MPI_SUCCESS) given_.store(true, std::memory_order_release);
  return code;
}

bool OwnRequests::make_pending() {
  PendingRequest& made = pending_.emplace_back();
  if (new_handle(&made.handle_) != MPI_SUCCESS) {
    pending_.pop_back();
    return false;
  }
  table_.insert(handle_key(made.handle_), &made);
  give_back(made);
  return true;
}

template <typename Visit>
void OwnRequests::for_each(Visit&& visit) {
  // By index: the visit may sweep.
  for (std::size_t i = 0; i < all_.size(); ++i) visit(*all_[i]);
  for (PendingRequest& request : pending_) visit(request);
}

bool OwnRequests::any_of(int count, const MPI_Request* handles) {
  if (any_complete(count, handles)) return true;
  if (!any() || count <= 0 || handles == nullptr) return false;
  const Guard guard(engine.lock);
  return std::any_of(handles, handles + count,
                     [this](MPI_Request handle) { return find(handle) != nullptr; });
}

int OwnRequests::add(std::unique_ptr<OwnRequest> request, MPI_Request* handle) {
  if (const int code = new_handle(&request->handle_); code != MPI_SUCCESS) return code;
  *handle = request->handle_;
  table_.insert(handle_key(*handle), request.get());
  if (request->once_) request->start();
  request->position_ = all_.size();
  all_.push_back(std::move(request));
  add_to_count(1);
  return MPI_SUCCESS;
}

Failure OwnRequests::end(MPI_Request* handle, OwnRequest& request, MPI_Status* status) {
  const Failure failure = request.end(status);
  if (request.once_) {
    remove(request);
    *handle = MPI_REQUEST_NULL;
  }
  return failure;
}

std::unique_ptr<OwnRequest> OwnRequests::remove(OwnRequest& request) {
  if (request.active_ && !request.cut_off() && !request.done()) request.abandon();
  request.active_ = false;
  request.let_go();
  add_to_count(-1);
  if (!request.ends_with_handle()) return nullptr;
  table_.erase(handle_key(request.handle_), &request);
  spare_.push_back(request.handle_);
  const std::size_t position = request.position_;
  std::swap(all_[position], all_.back());
  all_[position]->position_ = position;
  std::unique_ptr<OwnRequest> removed = std::move(all_.back());
  all_.pop_back();
  return removed;
}

void OwnRequests::forget() {
  for_each([](OwnRequest& request) {
    if (request.active_ && !request.cut_off() && !request.done()) request.abandon();
  });
  all_.clear();
  table_.clear();
  count_.store(0, std::memory_order_relaxed);
  spare_unused();
  pending_.clear();
  if (given_.exchange(false, std::memory_order_relaxed)) spare_.push_back(complete_);
}

void OwnRequests::spare_unused() {
  for (; unused_ != nullptr; unused_ = unused_->next_) {
    table_.erase(handle_key(unused_->handle_), unused_);
    spare_.push_back(unused_->handle_);
  }
}

void OwnRequests::free_spare() {
  std::vector<MPI_Request> spare;
  {
    const Guard guard(engine.lock);
    spare_unused();
    spare.swap(spare_);
  }
  int ended = 0;
  host_mpi().Finalized(&ended);
  for (MPI_Request& handle : spare) {
    if (ended == 0) host_mpi().Request_free(&handle);
  }
}

void OwnRequests::cut_off(const WindowHandle& window) {
  for_each([&](OwnRequest& request) { request.cut_off_from(window); });
}

void OwnRequests::fail_lost() {
  if (!any()) return;
  const Guard guard(engine.lock);
  LostSources sources(engine.running()->process);
  for_each([&](OwnRequest& request) { request.check_lost(sources); });
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
