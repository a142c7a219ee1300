// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "mpi/host/host.hpp"

namespace oriel {
struct Running;
}

namespace oriel::mpi {

/// The lifetime of the engine. It is made for the first window, and exists as long as something
/// holds it:
///
///     the world model            from MPI_Init to MPI_Finalize
///     each session               from MPI_Session_init to MPI_Session_finalize
///     each window, and each call that makes one, until the window has been freed or given up
///
/// The MPI_Session_finalize or MPI_Finalize after which nothing holds the engine destroys it, while
/// MPI is still usable; a later window makes another one. Windows that exist at MPI_Finalize are
/// destroyed with it. The holds, and whether there is an engine, are protected by `alone_`, which
/// is acquired before the process lock. The child of a fork does not own the engine and must not
/// destroy it: it belongs to the parent, whose sockets must not be shut down. A thread that uses
/// the engine is in an MPI call permitted by one of the first two holds, or is the agent's, which
/// ends before the engine does.
class Lifetime {
 public:
  /// Called for a window: makes the engine if there is none. Without the process lock. On failure
  /// returns false and sets `error` to a sentence.
  bool hold(std::string& error);
  void let_go();
  /// Called when a window of this group has been made: its ranks are recorded. With the process
  /// lock.
  void add_window(std::uint32_t number, MPI_Group group);
  /// Adds to the number of windows of Oriel's own that hold the engine. These end with the last
  /// session, because the program cannot free them before.
  void count_own(int change);
  void begin_session();
  /// Permits several threads to call. Returns false if the engine already works without the process
  /// lock, because a call that does not hold it may be in progress.
  bool serialize_threads();
  /// Called before and after the host's MPI_Session_finalize. The engine of the last session stops
  /// before that call and is destroyed after it: hosts return from the last MPI_Session_finalize
  /// only when all ranks are in it. If a rank closed its endpoint earlier, others would lose its
  /// last messages that they have not read yet.
  std::unique_ptr<Running> before_session_ends();
  void after_session_ended(std::unique_ptr<Running> running);
  /// Sets the function that disconnect() calls. It completes everything that needs other ranks
  /// before MPI ends.
  void set_disconnect(void (*hook)()) { disconnect_ = hook; }
  void disconnect();
  /// disconnect() if a session ends and the engine with it.
  void disconnect_with_last_session();
  /// Called before and after the host's MPI_Finalize, in which windows may still be freed.
  void before_world_ends();
  void after_world_ended();
  /// Called before the host ends the program.
  void before_abort();

 private:
  bool ends_with_session();
  std::unique_ptr<Running> take_down();
  void disown();

  std::mutex alone_;
  std::atomic<void (*)()> disconnect_{nullptr};
  unsigned long holds_ = 0;  // by windows, and by calls that make one
  unsigned long own_ = 0;    // those by windows of Oriel's own
  unsigned long sessions_ = 0;
  bool world_ends_ = false;  // the host is in its MPI_Finalize
};

extern Lifetime lifetime;

/// Keeps the engine alive for the duration of a call.
class EngineHold {
 public:
  EngineHold() : held_(lifetime.hold(error_)) {}
  ~EngineHold() {
    if (held_) lifetime.let_go();
  }
  EngineHold(const EngineHold&) = delete;
  EngineHold& operator=(const EngineHold&) = delete;
  explicit operator bool() const { return held_; }
  const std::string& error() const { return error_; }
  /// The window that the call has made holds the engine from now on.
  void hand_over() { held_ = false; }

 private:
  std::string error_;
  bool held_;
};

}  // namespace oriel::mpi
