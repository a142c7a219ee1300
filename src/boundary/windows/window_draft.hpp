// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "boundary/windows/announcement.hpp"
#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"

namespace oriel::boundary {

/// The memory and registrations of a region in this process: pieces of the arena, and other nodes'
/// access to the region's memory. Destroyed with the last window on the region.
struct OwnMemory {
  explicit OwnMemory(CompositeTransport& given) : transports(given) {}
  ~OwnMemory() {
    if (exposure >= 0) transports.network()->withdraw(exposure);
    if (atomic_exposure >= 0) transports.atomics()->withdraw(atomic_exposure);
    transports.shm().release(created);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  CompositeTransport& transports;
  ArenaPiece control;
  ArenaPiece memory;         // null: the program has made the memory,
  MemoryRange created;       // which is here then
  int exposure = -1;         // see Network
  int atomic_exposure = -1;  // see AtomicNetwork
};

/// This rank's part of a window that is being made. The draft's destructor frees everything that
/// the finished window has not taken over.
struct WindowDraft {
  WindowDraft(const char* name, MPI_Comm on, MPI_Info info);
  ~WindowDraft();
  WindowDraft(const WindowDraft&) = delete;
  WindowDraft& operator=(const WindowDraft&) = delete;

  /// Records that this rank cannot make its part. The rank nevertheless takes the remaining steps;
  /// the other ranks receive the failure in `mine.failed`, or in agree(). Only the first reason is
  /// kept; it is worded as that of a Failure.
  void fail(int error_class, std::string reason);
  /// Allocates the control block and `bytes` bytes of window memory in the arena; for a dynamic
  /// window, the bytes are its SharedPieces.
  void take_memory(std::uint64_t bytes);
  /// Acquires a value for the window's handle; fails if all are in use. With the process lock.
  void take_handle();

  bool dynamic() const { return window->flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  bool shared() const { return window->flavor == MPI_WIN_FLAVOR_SHARED; }

  const char* call;
  MPI_Comm communicator;
  int rank = 0;
  int ranks = 0;
  bool holds_engine = false;  // until the window does
  bool contiguous = false;    // one piece of rank 0's arena holds the memory of all ranks
  Announcement mine;
  std::unique_ptr<WindowHandle> window;
  std::shared_ptr<OwnMemory> own;  // the region's after it is made
  int error_class = MPI_SUCCESS;   // of the failure of this rank
  std::string reason;

 private:
  ArenaLocation take(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece);
};

}  // namespace oriel::boundary
