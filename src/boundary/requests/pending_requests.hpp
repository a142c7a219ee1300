// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <vector>

#include "boundary/host/host.hpp"
#include "core/base/error.hpp"
#include "engine/process/handle_table.hpp"

namespace oriel {
class Window;
}

namespace oriel::boundary {

struct WindowHandle;

/// A request that only Oriel's sweeps can complete, as a generalized request of the host, so that
/// it works wherever a request does (E1). The object is reused when three things have happened: the
/// core has completed it, the host has been notified, and the host has freed its request. Hosts
/// differ in the order of the last two.
class PendingRequest final : public Completion {
 public:
  void complete(Error error) override;
  /// Any rank of the window may complete the request: it fails if one of them has ended.
  void await_anybody() { awaits_anybody_ = true; }

 private:
  friend class PendingRequests;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  Window* window_ = nullptr;
  Error error_ = Error::none;
  bool awaits_anybody_ = false;
  bool held_ = true;         // the core holds it as a Completion
  bool handed_out_ = false;  // the program has its handle
  bool queued_ = false;      // in to_complete_
  bool host_knows_ = false;
  bool freed_ = false;
};

/// All pending requests. Requests complete within a sweep; the host is notified afterwards and
/// without the process lock, because it may call Oriel. The pool is protected by
/// Engine::request_lock, because the host frees requests while it holds its own locks.
class PendingRequests {
 public:
  /// A request to pass to a core call as its Completion.
  PendingRequest& acquire(const WindowHandle& window);
  /// Returns a request to the pool: the call was finished or failed, and will not complete it.
  void withdraw(PendingRequest& request);
  /// Makes the handle. Without the process lock.
  int hand_out(PendingRequest& request, MPI_Request* handle);

  /// True if requests exist that the host does not know as complete: waits must sweep.
  bool live() const { return live_.load(std::memory_order_relaxed) != 0; }
  /// True if requests are complete and the host has not been notified.
  bool any_to_complete() const { return to_complete_count_.load(std::memory_order_relaxed) != 0; }
  /// Notifies the host of complete requests. Without the process lock. Returns whether there were
  /// any.
  bool complete_at_host();
  /// Fails the requests that wait on windows with an ended process.
  void fail_lost();

  /// True if all of these, except MPI_REQUEST_NULL, are Oriel's, and there is at least one.
  bool all_pending(int count, const MPI_Request* requests) const;
  /// True if this is a request of Oriel's that the host does not know as complete.
  bool incomplete_at_host(MPI_Request handle) const;

 private:
  friend class PendingRequest;
  static int query(void* state, MPI_Status* status);
  static int free(void* state);
  static int cancel(void* state, int complete);
  void complete(PendingRequest& request, Error error);
  void queue(PendingRequest& request);
  void recycle_if_unused(PendingRequest& request);

  std::deque<PendingRequest> all_;
  std::vector<PendingRequest*> unused_;
  std::vector<PendingRequest*> to_complete_;
  HandleTable<PendingRequest> by_handle_;  // requests that the host has not freed
  std::atomic<std::size_t> live_{0};
  std::atomic<std::size_t> to_complete_count_{0};
};

/// Makes a request that is complete at creation.
int completed_request(MPI_Request* handle);

}  // namespace oriel::boundary
