// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/operation/operation.hpp"
#include "mpi/host/host.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// The part of a rank's memory into which the other ranks put.
struct ReceiveArea {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  bool staged = false;                 // the buffers have gaps: blocks are put packed, into staging
  bool locks = false;                  // see ReceiveWindow
  std::vector<std::uint64_t> offsets;  // of the ranks' blocks: bytes from the base, by rank
};

ReceiveArea area_of(const std::vector<Buffer>& receives, int rank, bool locks);

/// A window on receive buffers, for one request at a time.
///
/// If it is locked (`locks`), each rank holds its own part exclusively except during a round, that
/// is, one use of the request, and there are two windows on the same memory, used in turn. With one
/// window, a fast rank could begin the next round and put after this round's end and before this
/// rank has locked its part again. With two windows, the fast rank waits for this rank's lock of
/// the other window, which this rank holds until it begins the next round itself.
struct ReceiveWindow {
  struct Part {
    WindowHandle* bound = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    Flag closed;
    Flag met;
  };
  std::array<Part, 2> both;
  bool locks = false;
  bool staged = false;
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> staging;
  bool used = false;
  bool broken = false;          // a round was abandoned: the window is kept until MPI ends
  std::uint64_t last_used = 0;  // the same on all ranks

  std::span<Part> parts() { return {both.data(), locks ? 2U : 1U}; }
  bool idle() const { return !used && !broken; }
};

/// The receive windows of one communicator, in the same slots on all ranks. The ranks agree by bits
/// on the slots in view, which are at most `seen_at_once`; each call that makes a collective moves
/// the view on. Under the process lock, except make().
class ReceiveWindows {
 public:
  /// The windows in view, as bits, that no request of this rank uses: those that fit the area, or
  /// all of them.
  std::uint64_t fitting(const ReceiveArea& area) const;
  std::uint64_t idle() const;

  // The arguments of the next two are the bits that are set on all ranks, so all ranks act alike.
  /// Takes a window that fits; null: there is none.
  ReceiveWindow* acquire(std::uint64_t fitting);
  /// Leaves idle windows in view, all but the `most_idle` last used ones, and moves the view on.
  void retire_old(std::uint64_t idle);
  /// Makes a window, on all ranks. Raises errors.
  int make(const char* call, MPI_Comm communicator, int rank, const ReceiveArea& area,
           ReceiveWindow*& made);
  /// Called when the communicator is freed. Leaves the idle windows; release() leaves the others.
  void retire_unused();
  /// Called when the request that uses the window is freed.
  void release(ReceiveWindow& window);

 private:
  static constexpr std::size_t seen_at_once = 64;
  static constexpr std::size_t most_idle = 4;

  template <typename Holds>
  std::uint64_t bits(Holds&& holds) const;
  void retire(std::unique_ptr<ReceiveWindow>& slot);

  std::vector<std::unique_ptr<ReceiveWindow>> slots_;
  std::size_t view_ = 0;  // the first one in view
  std::uint64_t uses_ = 0;
  bool orphaned_ = false;
};

}  // namespace oriel::mpi
