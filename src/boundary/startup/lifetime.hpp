// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "boundary/events/recorder.hpp"
#include "engine/record/event_counts.hpp"
#include "engine/record/run_statistics.hpp"
#include "engine/record/trace_file.hpp"

namespace oriel {
struct Running;
}

namespace oriel::boundary {

/// How long the engine exists. It is made for the first window, and lives as long as anybody holds
/// it:
///
///     the world model            from MPI_Init to MPI_Finalize
///     each session               from MPI_Session_init to MPI_Session_finalize
///     each window, and each call that makes one, until the window has been freed or given up
///
/// It is taken down by the MPI_Session_finalize or MPI_Finalize after which nobody does, while MPI
/// is still there to be left; a later window makes another one. Windows that MPI_Finalize finds go
/// with it. Who holds it, and whether there is one, is decided under `alone_` alone, which comes
/// before the process lock. The child of a fork owns nothing: what it inherits is its parent's,
/// whose sockets it must not shut down, and is left alone. Who uses it is in an MPI call that one
/// of the first two permits, or on the agent's thread, which ends before it.
class Lifetime {
 public:
  /// For a window: makes the engine if there is none. Without the process lock. False, and `error`
  /// is a sentence, if that fails.
  bool hold(std::string& error);
  void let_go();
  /// One more, or one less, of the windows that hold it is our own: they end with the last session,
  /// which the program cannot free them before.
  void count_own(int change);
  void begin_session();
  /// Lets several threads call. False: the engine works without the process lock, which a call may
  /// just not be holding.
  bool serialize_threads();
  /// Around the host's own MPI_Session_finalize. The engine of the last session stops before that
  /// call, and is destroyed after it: hosts hold the last MPI_Session_finalize until all ranks are
  /// in it. A rank that closed its endpoint before would take from others what they have not read
  /// yet of its last messages.
  std::unique_ptr<Running> before_session_ends();
  void after_session_ended(std::unique_ptr<Running> running);
  /// Sets the function that disconnect() calls: it completes what needs other ranks before MPI
  /// ends.
  void set_disconnect(void (*hook)()) { disconnect_ = hook; }
  void disconnect();
  /// The same where a session ends and the engine with it.
  void disconnect_with_last_session();
  /// Around the host's own MPI_Finalize, in which windows may still be freed.
  void before_world_ends();
  void after_world_ended();
  /// Before the host ends the program.
  void before_abort();

 private:
  bool ends_with_session();
  std::unique_ptr<Running> take_down();
  void disown();

  std::mutex alone_;
  std::atomic<void (*)()> disconnect_{nullptr};
  unsigned long holds_ = 0;  // of windows and of calls that make one
  unsigned long own_ = 0;    // of these
  unsigned long sessions_ = 0;
  EventCounts event_counts_;
  RunStatistics run_statistics_;
  TraceFile trace_file_;
  Recorder recorder_;
  bool world_ends_ = false;  // the host is in its MPI_Finalize
};

extern Lifetime lifetime;

}  // namespace oriel::boundary
