// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "core/base/error.hpp"
#include "core/operation/operation.hpp"

namespace oriel::boundary {

/// What of a rank's memory the others put into.
struct ReceiveArea {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  bool staged = false;                // what is received has gaps: it comes packed, into our memory
  bool locks = false;                 // see ReceiveWindow
  std::vector<std::uint64_t> places;  // by rank, from the base
};

ReceiveArea area_of(const std::vector<Buffer>& receives, int rank, bool locks);

/// A window on receive buffers, for one request at a time.
///
/// Where it is locked, each rank holds its own part exclusively while it is not in a round, and
/// there are two windows on the same memory, for rounds in turn. With one of them, whoever is fast
/// could begin the next round, and put, between the end of this one and our lock; of two it meets
/// the other one's lock, which we hold until we begin that round ourselves.
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
  bool broken = false;          // a round of it was abandoned: it is left to the end of MPI
  std::uint64_t last_used = 0;  // the same on all ranks

  std::span<Part> parts() { return {both.data(), locks ? 2U : 1U}; }
  bool idle() const { return !used && !broken; }
};

/// Those of one communicator. All ranks have them in the same places, and agree by bits about up to
/// `seen_at_once` of these; each call that makes a collective looks at the next ones. Under the
/// process lock, but for make().
class ReceiveWindows {
 public:
  /// Which of those in view serve the area, or nobody here uses.
  std::uint64_t fitting(const ReceiveArea& area) const;
  std::uint64_t idle() const;

  /// The rest is decided by what fits and is idle on all ranks. Takes one that fits; null: none.
  ReceiveWindow* take(std::uint64_t fitting);
  /// Leaves those that have been idle for longest, but for a few.
  void leave_old(std::uint64_t idle);
  /// Makes one, on all ranks. Raises what is wrong.
  int make(const char* call, MPI_Comm communicator, int rank, const ReceiveArea& area,
           ReceiveWindow*& made);
  /// The communicator goes: nobody will ask for them again.
  void leave_unused();
  /// The request that used it is freed.
  void give_back(ReceiveWindow& window);

 private:
  static constexpr std::size_t seen_at_once = 64;
  static constexpr std::size_t most_idle = 4;

  template <typename Holds>
  std::uint64_t bits(Holds&& holds) const;
  void leave(std::unique_ptr<ReceiveWindow>& slot);

  std::vector<std::unique_ptr<ReceiveWindow>> slots_;
  std::size_t view_ = 0;  // the first one in view
  std::uint64_t uses_ = 0;
  bool orphaned_ = false;
};

}  // namespace oriel::boundary
