// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/process/engine_failure.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/window_terms.hpp"
#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"

namespace oriel {

/// The memory and registrations of a region in this process: pieces of the arena, and other nodes'
/// access to the region's memory. Destroyed with the last window on the region.
struct OwnMemory {
  explicit OwnMemory(CompositeTransport& given) : transports(given) {}
  ~OwnMemory() {
    withdraw();
    transports.shm().release(created);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  /// Ends the exposures of the memory to the networks.
  void withdraw() {
    if (exposure >= 0) transports.network()->withdraw(exposure);
    if (atomic_exposure >= 0) transports.atomics()->withdraw(atomic_exposure);
    exposure = atomic_exposure = -1;
  }

  CompositeTransport& transports;
  ArenaPiece control;
  ArenaPiece memory;         // null: the window's memory is the program's
  MemoryRange created;       // the program's memory, if its use must be ended (release())
  int exposure = -1;         // see Network
  int atomic_exposure = -1;  // see AtomicNetwork
};

/// This rank's part of a window that is being made. The draft's destructor frees everything that
/// the finished window has not taken over.
struct WindowDraft {
  /// `on`: all of its ranks make the window. `name`: the program's call, for reports.
  WindowDraft(Engine& of, HostComm& on, const char* name) : engine(of), comm(on), call(name) {
    mine.node = Node::here();
  }
  ~WindowDraft();
  WindowDraft(const WindowDraft&) = delete;
  WindowDraft& operator=(const WindowDraft&) = delete;

  /// Called when the engine runs. Sets the window's number and the name of this process, unless
  /// this rank has failed. With the process lock.
  void begin(std::uint64_t bytes, std::uint64_t disp_unit);
  /// Records that this rank cannot make its part. The rank nevertheless takes the remaining steps;
  /// the other ranks receive the failure in `mine.failed`, or in agree(). Only the first reason is
  /// kept; it is worded as that of an EngineFailure.
  void fail(Error bad, std::string why);
  bool failed() const { return error != Error::none; }
  EngineFailure failure() const { return {error, reason.c_str()}; }
  /// Allocates the control block and `bytes` bytes of window memory in the arena; for a dynamic
  /// window, the bytes are its SharedPieces. Does nothing after a failure.
  void allocate(std::uint64_t bytes);

  bool dynamic() const { return flavor == WindowFlavor::dynamic; }
  bool shared() const { return flavor == WindowFlavor::shared; }

  Engine& engine;
  HostComm& comm;
  const char* call;
  WindowTerms terms;
  WindowFlavor flavor = WindowFlavor::created;
  int rank = 0;
  int ranks = 0;
  Running* running = nullptr;  // null: the engine could not be started, and this rank has failed
  bool contiguous = false;     // one piece of rank 0's arena holds the memory of all ranks
  Announcement mine;
  void* base = nullptr;            // of this rank's memory
  std::shared_ptr<OwnMemory> own;  // the region's after it is made
  Error error = Error::none;       // of this rank, and after agree() of all ranks
  std::string reason;

  // Set by make_window(), and valid if no rank has failed:
  Window* window = nullptr;
  Intrinsic intrinsic = Intrinsic::as_asked;
  bool network_atomics = false;  // the network's atomics carry out accumulates

 private:
  ArenaLocation allocate(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece);
};

}  // namespace oriel
