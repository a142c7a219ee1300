// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "boundary/process/handle_table.hpp"
#include "boundary/runtime/bound_window.hpp"
#include "boundary/runtime/lost_peers.hpp"

namespace oriel::boundary {

/// A persistent request of ours on a window (MPI-4.1 section 3.9): inactive until it is started,
/// and again when a wait or test has told that it is complete. Or one that serves once: it is
/// started as soon as it is made, and when a wait or test has told of its end, it is gone. Under
/// the process lock.
class PersistentRequest {
 public:
  enum class Serves : bool { again, once };

  explicit PersistentRequest(BoundWindow& window, Serves serves = Serves::again)
      : window_(&window), once_(serves == Serves::once) {}
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// As MPI understands it: started, and no wait or test has told of its end.
  bool active() const { return active_; }
  /// Of an active one: a wait need not wait any more.
  bool complete() const { return lost_rank_ >= 0 || window_ == nullptr || done(); }
  /// MPI_WIN_NULL: it has been freed.
  MPI_Win window_handle() const { return window_ != nullptr ? window_->handle : MPI_WIN_NULL; }

  Failure start();
  /// Of a complete one, or one that is not active: what a wait or test tells of its end. Nothing is
  /// changed; the status is filled if it is wanted.
  Failure describe(MPI_Status* status) const;
  /// Fails an active one if a process that it waits for has ended.
  void look_for_lost(LostSources& sources);

 protected:
  BoundWindow& window() const { return *window_; }

 private:
  friend class PersistentRequests;

  virtual void begin() = 0;
  /// It was begun and is not wanted any more.
  virtual void abandon() = 0;
  virtual bool done() const = 0;
  virtual void describe_end(MPI_Status* status) const = 0;
  /// A rank that it waits for and that has ended; -1: none.
  virtual int lost(LostSources& sources) const = 0;

  Failure end(MPI_Status* status);

  BoundWindow* window_;  // null: it has been freed
  bool once_;
  bool active_ = false;
  int lost_rank_ = -1;
  std::size_t place_ = 0;  // among all
};

/// All of them, by the handles that the program has. Each handle belongs to an inactive persistent
/// request of the host, so that no other request has the same; the calls that take requests look
/// here first.
class PersistentRequests {
 public:
  /// Whether there are any: the usual program has none.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  // Under the process lock.
  PersistentRequest* find(MPI_Request handle) {
    return any() ? table_.find(handle_key(handle)) : nullptr;
  }
  int add(std::unique_ptr<PersistentRequest> request, MPI_Request* handle);
  /// A wait or test tells of its end: as describe(), and then it is not active any more, or it and
  /// its handle are gone.
  Failure end(MPI_Request* handle, PersistentRequest& request, MPI_Status* status);
  /// MPI_Request_free, but for the handle, which is the host's to free.
  void remove(MPI_Request handle, PersistentRequest& request);
  /// The handle of the window goes; its requests stay until they are freed, and do nothing any
  /// more.
  void cut_off(const BoundWindow& window);

  /// Fails those that wait for dead processes. Takes the process lock.
  void fail_lost();

 private:
  std::vector<std::unique_ptr<PersistentRequest>> all_;
  HandleTable<PersistentRequest> table_;
  std::atomic<std::size_t> count_{0};
};

extern PersistentRequests persistent_requests;

/// Raises what is wrong with one of them, if anything: through its window's error handler, or where
/// that is gone, through that of MPI_COMM_SELF. Without the process lock.
int report(const char* call, MPI_Win window, const Failure& failure);
/// The same of a wait or test.
inline int report_wait(MPI_Win window, const Failure& failure) {
  return report("A wait for notifications", window, failure);
}

/// As MPI has it for an inactive request (MPI-4.1 section 3.7.3).
void make_empty(MPI_Status* status);

}  // namespace oriel::boundary
