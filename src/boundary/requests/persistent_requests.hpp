// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "boundary/runtime/lost_peers.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "core/epoch/events.hpp"
#include "engine/process/handle_table.hpp"

namespace oriel::boundary {

/// Whose error handler hears of what goes wrong: a window's, a communicator's, or where both are
/// gone, that for errors of no object.
struct ErrorTaker {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  const char* wait = "";  // what the sentence calls a wait or test
};

/// A persistent request of ours (MPI-4.1 section 3.9): inactive until it is started, and again when
/// a wait or test has told that it is complete. Or one that serves once: it is started as soon as
/// it is made, and when a wait or test has told of its end, it is gone. Under the process lock.
class PersistentRequest {
 public:
  enum class Serves : bool { again, once };

  explicit PersistentRequest(Serves serves) : once_(serves == Serves::once) {}
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// As MPI understands it: started, and no wait or test has told of its end.
  bool active() const { return active_; }
  /// Of an active one: a wait need not wait any more.
  bool complete() const { return lost_rank_ >= 0 || bool(cut_off()) || done(); }
  virtual ErrorTaker error_taker() const = 0;
  /// The window on which a wait for it waits; null: none any more.
  virtual const Window* waits_on() const = 0;
  /// The wait for it, as events have it.
  virtual Wait wait() const { return {WaitReason::request}; }
  /// Of an active one that is the host's to complete: waits in the host, for a while. False: it is
  /// not. Without the process lock.
  virtual bool wait_in_host() { return false; }

  Failure start();
  /// Why the program may not free it now; without a reason it may.
  virtual Failure refuse_free() const { return {}; }
  /// Of a complete one, or one that is not active: what a wait or test tells of its end. Nothing is
  /// changed; the status is filled if it is wanted.
  Failure describe(MPI_Status* status) const;
  /// Fails an active one if a process that it waits for has ended.
  void look_for_lost(LostSources& sources);

 protected:
  /// It was begun and is not wanted any more.
  virtual void abandon() = 0;
  /// Whether it has come to its end. May carry it on.
  virtual bool done() const = 0;

 private:
  friend class PersistentRequests;

  virtual Failure begin() = 0;
  /// Of one that is done: what went wrong, if anything.
  virtual Failure outcome() const { return {}; }
  virtual void describe_end(MPI_Status* status) const = 0;
  /// A rank that it waits for and that has ended; -1: none.
  virtual int lost(LostSources& sources) const = 0;
  /// What is told of such a rank.
  virtual Failure lost_failure(int rank) const = 0;
  /// What it belongs to has gone, and it does nothing any more; the reason is what start() and
  /// waits tell then.
  virtual Failure cut_off() const { return {}; }
  /// The handle of the window goes.
  virtual void note_end_of(const WindowHandle&) {}
  /// The program has freed it.
  virtual void let_go() {}

  Failure end(MPI_Status* status);

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
  /// MPI_Request_free; the handle is kept for another one. The object is for the caller to destroy,
  /// without the process lock.
  std::unique_ptr<PersistentRequest> remove(MPI_Request handle, PersistentRequest& request);
  /// The handle of the window goes; its requests stay until they are freed, and do nothing any
  /// more.
  void cut_off(const WindowHandle& window);

  /// The engine ends: those that the program has not freed are the host's alone from now on, and
  /// are inactive for it. Under the process lock.
  void forget();
  /// The host gets back the handles that are kept, before it or the communicator that they are made
  /// on ends.
  void free_spare();

  /// Fails those that wait for dead processes. Takes the process lock.
  void fail_lost();

 private:
  std::vector<std::unique_ptr<PersistentRequest>> all_;
  HandleTable<PersistentRequest> table_;
  // Handles without a request. Not freed while the program runs: the persistent collectives of
  // Intel MPI 2021.18 move nothing where their request lies in the place of such a one.
  std::vector<MPI_Request> spare_;
  std::atomic<std::size_t> count_{0};
};

/// Raises what is wrong with one of them, if anything. Without the process lock.
int report(const char* call, const ErrorTaker& taker, const Failure& failure);
/// The same of a wait or test.
inline int report_wait(const ErrorTaker& taker, const Failure& failure) {
  return report(taker.wait, taker, failure);
}

/// Raises MPI_ERR_ARG for an argument of a call on requests that is null, and may not be. Without
/// the process lock.
int refuse_null(const char* call);

/// As MPI has it for an inactive request (MPI-4.1 section 3.7.3).
void make_empty(MPI_Status* status);

}  // namespace oriel::boundary
