// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <vector>

#include "boundary/host/host.hpp"
#include "core/base/error.hpp"
#include "engine/process/handle_table.hpp"

namespace oriel::boundary {

struct WindowHandle;
struct WindowState;

/// One request that only our sweeps can complete: a generalized request of the host, so that it
/// works wherever a request does (E1). It is reused when the core has told it, the host has been
/// told, and the host has let go of it; hosts differ in the order of the last two.
class PendingRequest final : public Completion {
 public:
  void complete(Error error) override;
  /// Any rank of the window may be the one that it waits for, whatever else is pending.
  void await_anybody() { awaits_anybody_ = true; }

 private:
  friend class PendingRequests;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  const WindowState* window_ = nullptr;
  Error error_ = Error::none;
  bool awaits_anybody_ = false;
  bool held_ = true;         // by the core, which is going to tell it
  bool handed_out_ = false;  // there is a handle
  bool queued_ = false;      // in to_complete_
  bool host_knows_ = false;
  bool freed_ = false;
};

/// All of them. Completions come in the middle of a sweep; the host is told afterwards and without
/// the process lock, because it may call back into us. The pool has a lock of its own
/// (Engine::request_lock), because the host frees requests with its own locks held.
class PendingRequests {
 public:
  /// To pass to a core call as its Completion.
  PendingRequest& acquire(const WindowHandle& window);
  /// That call finished or failed: it will not be told.
  void withdraw(PendingRequest& request);
  /// Makes the handle; without the process lock.
  int hand_out(PendingRequest& request, MPI_Request* handle);

  /// Handed out and not yet known to the host as complete: waits must sweep.
  bool live() const { return live_.load(std::memory_order_relaxed) != 0; }
  /// Complete, but the host does not know.
  bool any_to_complete() const { return to_complete_count_.load(std::memory_order_relaxed) != 0; }
  /// Tells the host of what is complete; without the process lock. True if there was anything.
  bool complete_at_host();
  /// Fails those that wait on windows with a dead process.
  void fail_lost();

  /// Whether all of these are ours and there is one: those that are MPI_REQUEST_NULL do not count.
  bool all_pending(int count, const MPI_Request* requests) const;
  /// Of one of ours: the host does not know yet that it is complete.
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
  HandleTable<PendingRequest> by_handle_;  // those that the host has not let go of
  std::atomic<std::size_t> live_{0};
  std::atomic<std::size_t> to_complete_count_{0};
};

/// A request that is complete from the beginning.
int completed_request(MPI_Request* handle);

}  // namespace oriel::boundary
