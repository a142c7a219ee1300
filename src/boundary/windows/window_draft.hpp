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

/// The memory and registrations of a region in this process: pieces of our arena, and other nodes'
/// access to its memory. It goes with the last window on the region.
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
  ArenaPiece memory;         // null where the program has made it:
  MemoryRange created;       // then this is where it is
  int exposure = -1;         // see Network
  int atomic_exposure = -1;  // see AtomicNetwork
};

/// This rank's part of a window that is being made. When the draft ends, it gives back what the
/// finished window has not taken over.
struct WindowDraft {
  WindowDraft(const char* name, MPI_Comm on, MPI_Info info);
  ~WindowDraft();
  WindowDraft(const WindowDraft&) = delete;
  WindowDraft& operator=(const WindowDraft&) = delete;

  /// Notes that this rank cannot make its part. The rank takes the remaining steps all the same;
  /// the other ranks learn of the failure from `mine.failed`, or when all agree. The first reason
  /// counts, which is the second half of a sentence.
  void fail(int error_class, std::string reason);
  /// Allocates the control block, and so many bytes of window memory, in the arena; of a dynamic
  /// window's SharedPieces instead.
  void take_memory(std::uint64_t bytes);
  /// Takes a value for the window's handle; the draft fails if all are in use. With the process
  /// lock.
  void take_handle();

  bool dynamic() const { return window->flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  bool shared() const { return window->flavor == MPI_WIN_FLAVOR_SHARED; }

  const char* call;
  MPI_Comm communicator;
  int rank = 0;
  int ranks = 0;
  bool holds_engine = false;  // until the window does
  bool contiguous = false;    // one piece of rank 0's holds the memory of all ranks
  Announcement mine;
  std::unique_ptr<WindowHandle> window;
  std::shared_ptr<OwnMemory> own;  // the region's, once that is made
  int error_class = MPI_SUCCESS;   // of this rank's failure
  std::string reason;

 private:
  ArenaLocation take(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece);
};

}  // namespace oriel::boundary
