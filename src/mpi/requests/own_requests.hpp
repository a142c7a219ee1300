// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "engine/process/handle_table.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/own_request.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// Sets the status that MPI defines for an inactive request (MPI-4.1 section 3.7.3).
void make_empty(MPI_Status* status);

/// All requests of Oriel's, by the handles that the program has. Each handle is an inactive
/// persistent request of the host, so that no other request has an equal handle, and
/// MPI_Request_c2f works. Calls that take requests look here first.
///
/// All requests that were complete when their calls returned have the same handle, behind which
/// there is no object: no call waits for it, and no call frees it at the host.
class OwnRequests {
 public:
  /// True if the program has requests, apart from those that were complete from the start.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

  /// Sets the handle of requests that are complete from the start. Without the process lock.
  int give_complete(MPI_Request* handle) {
    // Pairs with the release in make_complete().
    if (!given_.load(std::memory_order_acquire)) [[unlikely]] {
      if (const int code = make_complete(); code != MPI_SUCCESS) return code;
    }
    *handle = complete_;
    return MPI_SUCCESS;
  }
  /// True if this is that handle.
  bool is_complete(MPI_Request handle) const {
    return given_.load(std::memory_order_acquire) && handle == complete_;
  }
  /// True if that handle is among these.
  bool any_complete(int count, const MPI_Request* handles) const {
    if (!given_.load(std::memory_order_acquire) || count <= 0 || handles == nullptr) return false;
    return std::find(handles, handles + count, complete_) != handles + count;
  }
  /// A wait or test of one such request. Returns false if the handle is another one.
  bool end_complete(MPI_Request* handle, MPI_Status* status) const {
    if (!is_complete(*handle)) return false;
    make_empty(status);
    *handle = MPI_REQUEST_NULL;
    return true;
  }
  /// A wait or test of requests that are all such, or MPI_REQUEST_NULL. Returns false, and does
  /// nothing, if they are not.
  bool end_all_complete(int count, MPI_Request* handles, MPI_Status* statuses) const {
    if (!given_.load(std::memory_order_acquire) || handles == nullptr) return false;
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (handles[i] == complete_) {
        any = true;
      } else if (handles[i] != MPI_REQUEST_NULL) {
        return false;
      }
    }
    for (int i = 0; any && i < count; ++i) {
      handles[i] = MPI_REQUEST_NULL;
      if (statuses != MPI_STATUSES_IGNORE) make_empty(statuses + i);
    }
    return any;
  }

  /// True if any of these requests is Oriel's. Takes the process lock.
  bool any_of(int count, const MPI_Request* handles);

  // With the process lock.
  OwnRequest* find(MPI_Request handle) { return any() ? table_.find(handle_key(handle)) : nullptr; }
  int add(std::unique_ptr<OwnRequest> request, MPI_Request* handle);
  /// Completes a request by a wait or test: result and status as of describe(). The request is
  /// inactive afterwards, or has been removed together with its handle.
  Failure end(MPI_Request* handle, OwnRequest& request, MPI_Status* status);
  /// MPI_Request_free. The handle is kept for another request. The caller destroys the object,
  /// without the process lock; null: it is kept, too.
  std::unique_ptr<OwnRequest> remove(OwnRequest& request);
  /// Called when the handle of the window is freed. Its requests exist until they are freed, and do
  /// nothing any more.
  void cut_off(const WindowHandle& window);

  /// A request to pass to a core call as its Completion. Null: the host makes no handle.
  PendingRequest* acquire(const WindowHandle& window) {
    if (unused_ == nullptr && !make_pending()) return nullptr;
    PendingRequest& pending = *std::exchange(unused_, unused_->next_);
    pending.begin_for(window);
    return &pending;
  }
  /// Gives the program the handle of such a request, which the core completes later or already has.
  void hand_out(const PendingRequest& pending, MPI_Request* handle) {
    *handle = pending.handle_;
    add_to_count(1);
  }
  /// Called when neither the core nor the program has the request.
  void give_back(PendingRequest& pending) { pending.next_ = std::exchange(unused_, &pending); }

  /// Called when the engine ends: requests that the program has not freed belong to the host only
  /// from now on, which sees inactive ones. With the process lock.
  void forget();
  /// Frees the kept handles, before the host, or the communicator that they were made on, ends.
  /// Without the process lock.
  void free_spare();

  /// Fails the requests that wait for ended processes. Takes the process lock.
  void fail_lost();

 private:
  int new_handle(MPI_Request* handle);
  int make_complete();
  bool make_pending();
  void spare_unused();
  void add_to_count(long change) {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    count_.store(count + static_cast<std::size_t>(change), std::memory_order_relaxed);
  }
  template <typename Visit>
  void for_each(Visit&& visit);

  std::vector<std::unique_ptr<OwnRequest>> all_;  // without the pending ones
  std::deque<PendingRequest> pending_;
  PendingRequest* unused_ = nullptr;  // a list, with their handles
  HandleTable<OwnRequest> table_;
  // Handles without a request. Not freed while the program runs: a persistent collective of Intel
  // MPI 2021.18 moves nothing if its request reuses the memory of such a freed one.
  std::vector<MPI_Request> spare_;
  std::atomic<std::size_t> count_{0};  // of requests that the program has
  MPI_Request complete_{};
  std::atomic<bool> given_{false};  // complete_ is a handle
};

extern OwnRequests own_requests;

/// Raises the error of a request, if any. Without the process lock.
int report(const char* call, const ErrorTaker& taker, const Failure& failure);
/// report() for a wait or test.
inline int report_wait(const ErrorTaker& taker, const Failure& failure) {
  return report(taker.wait, taker, failure);
}

/// Raises MPI_ERR_ARG for a null argument of a call on requests. Without the process lock.
int refuse_null(const char* call);

/// A call that returns a request: start(window, pending, posted) sets `posted` if `pending` is
/// completed later. Otherwise the request is complete at creation.
template <typename Start, typename Host>
int with_request(const char* call, MPI_Win handle, MPI_Request* request, Start&& start,
                 Host&& host) {
  bool ours = false;
  bool posted = false;
  const int code = dispatch_call(
      call, handle,
      [&](WindowHandle& window) -> Failure {
        ours = true;
        if (const Failure bad = check_outputs(request)) return bad;
        PendingRequest* const pending = own_requests.acquire(window);
        if (pending == nullptr) return {MPI_ERR_OTHER, "the MPI library makes no more requests"};
        const Failure bad = start(window, *pending, posted);
        if (posted) {
          own_requests.hand_out(*pending, request);
        } else {
          own_requests.give_back(*pending);
        }
        return bad;
      },
      host);
  return ours && code == MPI_SUCCESS && !posted ? own_requests.give_complete(request) : code;
}

}  // namespace oriel::mpi
