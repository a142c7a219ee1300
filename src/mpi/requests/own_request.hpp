// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "core/epoch/events.hpp"
#include "engine/progress/lost_peers.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// The object whose error handler is called: a window, a communicator, or if both have been freed,
/// the handler for errors without an object.
struct ErrorTaker {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  const char* wait = "";  // how error messages name the wait or test
};

/// A request that Oriel completes. If it serves again, it is persistent (MPI-4.1 section 3.9):
/// inactive until it is started, and again after a wait or test has completed it. If it serves
/// once, it is active when the program receives it, and the wait or test that completes it frees
/// it. With the process lock.
class OwnRequest {
 public:
  enum class Serves : bool { again, once };

  explicit OwnRequest(Serves serves) : once_(serves == Serves::once) {}
  virtual ~OwnRequest() = default;
  OwnRequest(const OwnRequest&) = delete;
  OwnRequest& operator=(const OwnRequest&) = delete;

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
  void activate() {
    active_ = true;
    lost_rank_ = -1;
  }
  /// Stops a request that was begun.
  virtual void abandon() = 0;
  /// Returns whether the request has finished. May advance it.
  virtual bool done() const = 0;

 private:
  friend class OwnRequests;

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
  /// False if the object and its handle are used again.
  virtual bool ends_with_handle() const { return true; }

  Failure end(MPI_Status* status);

  bool once_;
  bool active_ = false;
  int lost_rank_ = -1;
  std::size_t position_ = 0;  // index in OwnRequests::all_
  MPI_Request handle_{};
};

/// The request of a call that a sweep finishes (E1). Its object and its handle are used again when
/// the core has completed it and the program has waited for it or freed it.
class PendingRequest final : public OwnRequest, public Completion {
 public:
  PendingRequest() : OwnRequest(Serves::once) {}

  void complete(Error error) override;
  using OwnRequest::complete;
  /// Any rank of the window may complete the request: it fails if one of them has ended.
  void await_anybody() { awaits_anybody_ = true; }

  ErrorTaker error_taker() const override;
  const Window* waits_on() const override { return window_ != nullptr ? window_->core : nullptr; }

 private:
  friend class OwnRequests;

  void begin_for(const WindowHandle& window) {
    window_ = &window;
    error_ = Error::none;
    awaits_anybody_ = done_ = false;
    activate();
  }
  Failure begin() override { return {}; }
  void abandon() override {}
  bool done() const override { return done_; }
  Failure outcome() const override;
  void describe_end(MPI_Status* status) const override;
  int lost(LostSources& sources) const override;
  Failure lost_failure(int rank) const override;
  void cut_off_from(const WindowHandle& window) override;
  void let_go() override;
  bool ends_with_handle() const override { return false; }

  const WindowHandle* window_ = nullptr;  // null: the window has been freed
  Error error_ = Error::none;
  bool awaits_anybody_ = false;
  bool done_ = false;               // the core has completed it
  PendingRequest* next_ = nullptr;  // in OwnRequests::unused_
};

}  // namespace oriel::mpi
