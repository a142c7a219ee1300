// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/requests/persistent_requests.hpp"

#include <utility>

#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

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

void PersistentRequest::look_for_lost(LostSources& sources) {
  if (!active_ || complete()) return;
  const int rank = lost(sources);
  if (rank >= 0 && sources.all_heard() && !complete()) lost_rank_ = rank;
}

int PersistentRequests::add(std::unique_ptr<PersistentRequest> request, MPI_Request* handle) {
  MPI_Request made = MPI_REQUEST_NULL;
  if (!spare_.empty()) {
    made = spare_.back();
    spare_.pop_back();
  } else if (const int code =
                 PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self.get(), &made);
             code != MPI_SUCCESS) {
    return code;
  }
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
  const std::size_t place = request.place_;
  std::swap(all_[place], all_.back());
  all_[place]->place_ = place;
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
  PMPI_Finalized(&ended);
  for (MPI_Request& handle : spare_) {
    if (ended == 0) host_mpi().Request_free(&handle);
  }
  spare_.clear();
}

void PersistentRequests::cut_off(const WindowHandle& window) {
  for (const auto& request : all_) request->note_end_of(window);
}

void PersistentRequests::fail_lost() {
  if (!any()) return;
  const Guard guard(engine.lock);
  LostSources sources(engine.running()->process);
  for (const auto& request : all_) request->look_for_lost(sources);
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
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

}  // namespace oriel::boundary
