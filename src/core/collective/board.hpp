// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/shared_words.hpp"
#include "core/collective/cell.hpp"
#include "core/collective/copy_trial.hpp"
#include "core/collective/meeting.hpp"
#include "core/operation/reduction.hpp"
#include "core/transport/memory_range.hpp"

namespace oriel {

/// How the bytes of a transfer between mapped ranks move.
enum class LaneProtocol : std::uint8_t {
  staged,    // through cells: the sender copies into them, the receiver out of them
  one_copy,  // directly from buffer to buffer: see Meeting
  tried      // the first uses measure which of the two is faster: see CopyTrial
};

/// The words that one side of a lane writes for the other side while the plan is made. Only `times`
/// changes later.
struct LaneSide {
  std::uint64_t bytes = 0;    // the sender's: bytes to send; the receiver's: space for bytes
  std::uint64_t address = 0;  // of its buffer in its process; 0: the buffer is not one run
  ArenaLocation location;     // of its buffer, if peers can map all of it
  TrialTimes times;           // for tried: written before the sides meet, read after
};

/// The words of one transfer from a mapped rank, on its receiver's board, followed by its cells.
struct alignas(cache_line) Lane {
  // Written by the receiver before it announces the board:
  LaneSide receiver;
  CellShape cells;
  std::uint32_t shared_fragment = 0;  // bytes of a fragment of a message that moves by one copy
  Basic basic = Basic::none;
  // Written by the sender before the ranks agree:
  alignas(cache_line) LaneSide sender;
  LaneProtocol way = LaneProtocol::staged;  // chosen by the sender
  Meeting meeting;

  /// The cell of turn `turn`. Turns count from 0, and the cells are used round-robin.
  Cell& cell(std::uint64_t turn) {
    auto* first = reinterpret_cast<std::byte*>(this + 1);
    return *reinterpret_cast<Cell*>(first + turn % cells.count * Cell::stride(cells.space));
  }
  static std::uint64_t bytes(const CellShape& cells) {
    return sizeof(Lane) + cells.count * Cell::stride(cells.space);
  }
};

// A short message shall occupy few cache lines of its board.
static_assert(sizeof(Lane) == 3 * cache_line);

/// The place of a lane on a board.
struct LaneEntry {
  std::uint64_t offset = 0;  // in the board; 0: nothing is expected, so there is no lane
  std::int32_t sender = 0;
  std::uint32_t order = 0;  // number of the lane among those from this sender
};

/// The memory that one rank shares with the ranks of its node that send to it in one plan. Behind
/// it in memory are its entries, ordered by sender and `order`, and its lanes.
struct alignas(cache_line) Board {
  std::uint64_t lanes = 0;
  /// The number of ranks that have stopped using this board. Each rank adds 1, with release, when
  /// it frees its plan. The owner reuses the memory when, after an acquire, it finds all of them
  /// counted.
  std::atomic<std::uint64_t> left{0};

  LaneEntry* entries() { return reinterpret_cast<LaneEntry*>(this + 1); }
  Lane* lane(const LaneEntry& entry) {
    if (entry.offset == 0) return nullptr;
    return reinterpret_cast<Lane*>(reinterpret_cast<std::byte*>(this) + entry.offset);
  }
  /// The offset of the first lane on a board of `lanes` lanes.
  static std::uint64_t first_lane(std::uint64_t lanes) {
    const std::uint64_t end = sizeof(Board) + lanes * sizeof(LaneEntry);
    return (end + cache_line - 1) / cache_line * cache_line;
  }
};

}  // namespace oriel
