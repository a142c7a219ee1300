// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/error.hpp"
#include "core/epoch/events.hpp"
#include "engine/process/handle_table.hpp"
#include "engine/progress/lost_peers.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

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

/// The object whose error handler is called: a window, a communicator, or if both have been freed,
/// the handler for errors without an object.
struct ErrorTaker {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  const char* wait = "";  // how error messages name the wait or test
};

/// A persistent request of Oriel's (MPI-4.1 section 3.9): inactive until it is started, and again
/// after a wait or test has completed it. If it serves once, it is started when it is made, and the
/// wait or test that completes it frees it. With the process lock.
class PersistentRequest {
 public:
  enum class Serves : bool { again, once };

  explicit PersistentRequest(Serves serves) : once_(serves == Serves::once) {}
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// True if it is active in MPI's sense: started, and not completed by a wait or test.
  bool active() const { return active_; }
  /// For an active request: true if a wait can return.
  bool complete() const { return lost_rank_ >= 0 || bool(cut_off()) || done(); }
  virtual ErrorTaker error_taker() const = 0;
  /// The window that the request waits on; null: it has been freed.
  virtual const Window* waits_on() const = 0;
  /// The wait for the request, as reported to Events.
  virtual Wait wait() const { return {WaitReason::request}; }
  /// If the host completes this active request, waits in the host for a while and returns true.
  /// Otherwise returns false. Without the process lock.
  virtual bool wait_in_host() { return false; }

  Failure start();
  /// The reason why the program may not free the request now; empty: it may.
  virtual Failure refuse_free() const { return {}; }
  /// The result that a wait or test returns, for a request that is complete or not active. Does not
  /// change the request; sets the status if it is wanted.
  Failure describe(MPI_Status* status) const;
  /// Fails an active request if a process that it waits for has ended.
  void check_lost(LostSources& sources);

 protected:
  /// Stops a request that was begun.
  virtual void abandon() = 0;
  /// Returns whether the request has finished. May advance it.
  virtual bool done() const = 0;

 private:
  friend class PersistentRequests;

  virtual Failure begin() = 0;
  /// The error of a request that is done, if any.
  virtual Failure outcome() const { return {}; }
  virtual void describe_end(MPI_Status* status) const = 0;
  /// A rank that the request waits for and that has ended; -1: none.
  virtual int lost(LostSources& sources) const = 0;
  /// The error for such a rank.
  virtual Failure lost_failure(int rank) const = 0;
  /// Not empty if the request's window or communicator has been freed, so that the request does
  /// nothing any more. start() and waits return this error.
  virtual Failure cut_off() const { return {}; }
  /// Called when the handle of the window is freed.
  virtual void cut_off_from(const WindowHandle&) {}
  /// Called when the program has freed the request.
  virtual void let_go() {}

  Failure end(MPI_Status* status);

  bool once_;
  bool active_ = false;
  int lost_rank_ = -1;
  std::size_t position_ = 0;  // index in PersistentRequests::all_
};

/// All persistent requests, by the handles that the program has. Each handle is an inactive
/// persistent request of the host, so that no other request has an equal handle. Calls that take
/// requests look here first.
class PersistentRequests {
 public:
  /// True if there are any. Most programs have none.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // With the process lock.
  PersistentRequest* find(MPI_Request handle) {
    return any() ? table_.find(handle_key(handle)) : nullptr;
  }
  int add(std::unique_ptr<PersistentRequest> request, MPI_Request* handle);
  /// Completes a request by a wait or test: result and status as of describe(). The request is
  /// inactive afterwards, or has been removed together with its handle.
  Failure end(MPI_Request* handle, PersistentRequest& request, MPI_Status* status);
  /// MPI_Request_free. The handle is kept for another request. The caller destroys the object,
  /// without the process lock.
  std::unique_ptr<PersistentRequest> remove(MPI_Request handle, PersistentRequest& request);
  /// Called when the handle of the window is freed. Its requests exist until they are freed, and do
  /// nothing any more.
  void cut_off(const WindowHandle& window);

  /// Called when the engine ends: requests that the program has not freed belong to the host only
  /// from now on, which sees inactive ones. With the process lock.
  void forget();
  /// Frees the kept handles, before the host, or the communicator that they were made on, ends.
  void free_spare();

  /// Fails the requests that wait for ended processes. Takes the process lock.
  void fail_lost();

 private:
  std::vector<std::unique_ptr<PersistentRequest>> all_;
  HandleTable<PersistentRequest> table_;
  // Handles without a request. Not freed while the program runs: a persistent collective of Intel
  // MPI 2021.18 moves nothing if its request reuses the memory of such a freed one.
  std::vector<MPI_Request> spare_;
  std::atomic<std::size_t> count_{0};
};

/// Raises the error of a request, if any. Without the process lock.
int report(const char* call, const ErrorTaker& taker, const Failure& failure);
/// report() for a wait or test.
inline int report_wait(const ErrorTaker& taker, const Failure& failure) {
  return report(taker.wait, taker, failure);
}

/// Raises MPI_ERR_ARG for a null argument of a call on requests. Without the process lock.
int refuse_null(const char* call);

/// Sets the status that MPI defines for an inactive request (MPI-4.1 section 3.7.3).
void make_empty(MPI_Status* status);

/// The requests of this process that Oriel completes.
struct OwnRequests {
  PendingRequests pending;
  PersistentRequests persistent;

  /// Fails the requests that wait for ended processes.
  void fail_lost() {
    pending.fail_lost();
    persistent.fail_lost();
  }
};

extern OwnRequests own_requests;

/// A call that returns a request: start(window, pending, posted) sets `posted` if `pending` is
/// completed later. Otherwise the request is complete at creation.
template <typename Start, typename Host>
int with_request(const char* call, MPI_Win handle, MPI_Request* request, Start&& start,
                 Host&& host) {
  PendingRequest* pending = nullptr;
  bool ours = false;
  const int code = dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        ours = true;
        if (const Failure bad = check_outputs(request)) return bad;
        PendingRequest& candidate = own_requests.pending.acquire(window);
        bool posted = false;
        const Failure bad = start(window, candidate, posted);
        if (posted) {
          pending = &candidate;
        } else {
          own_requests.pending.withdraw(candidate);
        }
        return bad;
      },
      host);
  if (!ours || code != MPI_SUCCESS) return code;
  return pending != nullptr ? own_requests.pending.hand_out(*pending, request)
                            : completed_request(request);
}

}  // namespace oriel::mpi
