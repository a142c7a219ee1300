// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/cache_line.hpp"
#include "core/collective/cell.hpp"
#include "core/collective/cell_shapes.hpp"
#include "core/collective/copy_trial.hpp"
#include "core/collective/meeting.hpp"
#include "core/operation/reduction.hpp"
#include "core/transport/arena_location.hpp"

namespace oriel {

/// How the bytes of a transfer between mapped ranks move.
enum class LaneProtocol : std::uint8_t {
  staged,    // by cells: the sender copies them in, the receiver out
  one_copy,  // from buffer to buffer: see Meeting
  tried      // by whichever is faster: see CopyTrial
};

/// What one side of a lane tells the other while the plan is made, and never changes but for
/// `times`.
struct LaneSide {
  std::uint64_t bytes = 0;    // the sender: that it sends; the receiver: that it has space for
  std::uint64_t address = 0;  // of its buffer in its process; 0: it does not lie in one run
  ArenaLocation location;     // likewise where peers can map all of it
  TrialTimes
      times;  // of LaneProtocol::tried: left there before the sides meet, and read when they have
};

/// The words of one transfer from a mapped rank, in its receiver's board, followed by its cells.
struct alignas(cache_line) Lane {
  // The receiver's, written before the board is announced:
  LaneSide receiver;
  CellShape cells;
  std::uint32_t shared_fragment = 0;  // what goes by one copy is moved in such fragments
  Basic basic = Basic::none;
  // The sender's, written before the ranks agree:
  alignas(cache_line) LaneSide sender;
  LaneProtocol way = LaneProtocol::staged;  // its choice
  Meeting meeting;

  /// Number `turn` of the cells that have been used, and will be, one after the other.
  Cell& cell(std::uint64_t turn) {
    auto* first = reinterpret_cast<std::byte*>(this + 1);
    return *reinterpret_cast<Cell*>(first + turn % cells.count * Cell::stride(cells.space));
  }
  static std::uint64_t bytes(const CellShape& cells) {
    return sizeof(Lane) + cells.count * Cell::stride(cells.space);
  }
};

// A short message wants few lines of its board.
static_assert(sizeof(Lane) == 3 * cache_line);

/// Where a lane of a board lies.
struct LaneEntry {
  std::uint64_t offset = 0;  // in the board; 0: nothing is expected, so there is none
  std::int32_t sender = 0;
  std::uint32_t order = 0;  // among those from this sender
};

/// What one rank shares with those of its node that send to it in one plan. Followed in memory by
/// its entries, by sender and order, and its lanes.
struct alignas(cache_line) Board {
  std::uint64_t lanes = 0;
  /// Ranks that do not look at it any more. Each adds itself, with release, when it frees its plan;
  /// the owner uses the memory again, after an acquire, when it has them all.
  std::atomic<std::uint64_t> left{0};

  LaneEntry* entries() { return reinterpret_cast<LaneEntry*>(this + 1); }
  Lane* lane(const LaneEntry& entry) {
    if (entry.offset == 0) return nullptr;
    return reinterpret_cast<Lane*>(reinterpret_cast<std::byte*>(this) + entry.offset);
  }
  /// Where the first lane of so many begins.
  static std::uint64_t first_lane(std::uint64_t lanes) {
    const std::uint64_t end = sizeof(Board) + lanes * sizeof(LaneEntry);
    return (end + cache_line - 1) / cache_line * cache_line;
  }
};

}  // namespace oriel
