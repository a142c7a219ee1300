// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/limits.hpp"
#include "core/base/shared_words.hpp"
#include "core/collective/copy_trial.hpp"
#include "core/operation/address.hpp"
#include "core/operation/reduction.hpp"
#include "core/transport/memory_range.hpp"

namespace oriel {

/// The word in front of bytes that a sender passes to a receiver: their number, or 0 for none. The
/// sender writes the bytes while the word is 0, the receiver reads them while it is not 0. So this
/// word alone decides which side may use the cell. Zeroed memory is an empty cell.
template <typename Words>
class BasicCell {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  // For the sender. Acquire: the receiver has read the previous bytes.
  bool empty() const { return bytes_.load(std::memory_order_acquire) == 0; }
  /// Release: the bytes, which have been written before.
  void fill(std::uint64_t bytes) { bytes_.store(bytes, std::memory_order_release); }
  /// Set beside the number of bytes: the bytes are invalid, because a receive that they depend on
  /// has failed.
  static constexpr std::uint64_t stale = std::uint64_t{1} << 63;

  // For the receiver. Acquire: the bytes.
  std::uint64_t filled() const { return bytes_.load(std::memory_order_acquire); }
  /// Release: the bytes have been read.
  void clear() { bytes_.store(0, std::memory_order_release); }

  /// The bytes of a cell with space for `space` bytes. Up to `most_beside_word` bytes share the
  /// cache line of the word. More bytes begin with a line of their own: programs' buffers begin at
  /// multiples of 16 bytes, and a copy to an address whose distance from the source exceeds whole
  /// pages by up to 15 bytes takes some processors (AMD's, where the C library copies by one
  /// instruction) sixteen times as long as any other copy.
  std::byte* payload(std::uint64_t space) {
    return reinterpret_cast<std::byte*>(this) + payload_offset(space);
  }
  const Atomic<std::uint64_t>& word() const { return bytes_; }
  /// Bytes of memory of a cell with space for `space` bytes.
  static constexpr std::uint64_t stride(std::uint64_t space) {
    return round_up(payload_offset(space) + space, cache_line);
  }

 private:
  static constexpr std::uint64_t payload_offset(std::uint64_t space) {
    return space <= most_beside_word ? sizeof(BasicCell) : cache_line;
  }
  static constexpr std::uint64_t most_beside_word = 1024;  // more bytes are worth a further line

  Atomic<std::uint64_t> bytes_{0};
};

using Cell = BasicCell<SharedWords>;

/// The cells of a lane.
struct CellShape {
  std::uint32_t space = 0;  // bytes of each
  std::uint16_t count = 0;  // 0: there are none
  bool wanted = false;      // false: only used if no direct copy is possible
};

/// Counts the transfers that a plan receives from mapped ranks, as far as the shapes of their cells
/// depend on these numbers.
class CellDemand {
 public:
  /// `ranks`: the number of ranks of the node.
  CellDemand(const Limits& limits, std::size_t ranks) : limits_(limits), ranks_(ranks) {}

  /// `mappable`: peers can map the receiver's buffer, so one copy needs no system call.
  void add(std::uint64_t bytes, bool mappable) {
    if (!wanted(bytes, mappable)) return;
    if (bytes > limits_.staged_fragment) ++long_transfers_;
    if (bytes <= limits_.staged_surely) ++short_transfers_;
  }
  /// Returns whether a message of `bytes` bytes may be copied twice, through cells.
  bool wanted(std::uint64_t bytes, bool mappable) const {
    if (!limits_.staged_pipelines && bytes > limits_.staged_whole * limits_.staged_fragment) {
      return false;
    }
    return bytes <= (mappable ? limits_.staged_mapped : limits_.staged);
  }
  /// Bytes that the cells of all long transfers may occupy.
  std::uint64_t budget() const {
    if (limits_.staged_pipelines) return limits_.staged_bytes;
    return std::max(limits_.staged_bytes, limits_.staged_node_bytes / ranks_);
  }
  std::uint64_t long_transfers() const { return long_transfers_; }
  std::uint64_t short_transfers() const { return short_transfers_; }
  const Limits& limits() const { return limits_; }

 private:
  const Limits& limits_;
  std::size_t ranks_;
  std::uint64_t long_transfers_ = 0;
  std::uint64_t short_transfers_ = 0;
};

/// Determines the cells of each receive from a mapped rank, within the memory that a plan may use
/// for cells. A message that fits into all its cells together needs no action of the receiver while
/// it is sent. A longer one passes through them as a pipeline, which needs progress on both sides.
class CellShapes {
 public:
  enum class Number : std::uint8_t { usual, one_way, fewest };

  /// `one_way`: see Schedule. `fewest`: memory is short.
  CellShapes(const CellDemand& demand, Number number)
      : demand_(demand),
        limits_(demand.limits()),
        number_(number),
        piece_(limits_.staged_fragment),
        count_(most(limits_, number)) {
    const auto too_many = [&] {
      return demand.long_transfers() * piece_ * count_ > demand.budget();
    };
    while (count_ > fewest && too_many()) count_ /= 2;
    while (piece_ > smallest_piece && too_many()) piece_ /= 2;
  }

  /// `runs`: the receiver's buffer is one run. If it is not, the sender's may not be one either,
  /// and then no process can make a direct copy; such a message always has cells.
  CellShape of(std::uint64_t bytes, bool runs, bool mappable) const {
    const bool fits = bytes <= piece_ * std::max(fewest, count_);
    if (demand_.wanted(bytes, mappable) && (fits || limits_.staged_pipelines)) {
      const std::uint64_t pieces = (bytes + piece_ - 1) / piece_;
      const std::uint64_t once = std::clamp(pieces, fewest, std::max(fewest, count_));
      return shape(std::min(bytes, piece_), std::max(once, ahead(bytes)), true);
    }
    if (runs) return {};
    return shape(piece_, fewest, false);
  }

 private:
  static std::uint64_t most(const Limits& limits, Number number) {
    if (number == Number::fewest) return fewest;
    return limits.staged_pipelines ? limits.staged_cells : limits.staged_whole;
  }
  /// The number of uses that the sender of a message of `bytes` bytes may be ahead of its receiver.
  std::uint64_t ahead(std::uint64_t bytes) const {
    if (number_ != Number::one_way || bytes > limits_.staged_surely) return fewest;
    const std::uint64_t all =
        std::max<std::uint64_t>(demand_.short_transfers(), 1) * Cell::stride(bytes);
    return std::clamp(limits_.ahead_bytes / all, fewest, std::max(fewest, limits_.ahead_uses));
  }
  static CellShape shape(std::uint64_t space, std::uint64_t count, bool wanted) {
    return {static_cast<std::uint32_t>(space), static_cast<std::uint16_t>(count), wanted};
  }

  static constexpr std::uint64_t fewest = 2;
  static constexpr std::uint64_t smallest_piece = 4096;

  const CellDemand& demand_;
  const Limits& limits_;
  Number number_;
  std::uint64_t piece_;
  std::uint64_t count_;
};

/// Synchronizes the two sides of a transfer between mapped ranks by one copy, in each use. When the
/// second side arrives, both buffers are ready. That side moves the pieces; a side that waits moves
/// some of them too. Pieces are numbered across uses: those of use u end before u times the number
/// of pieces of one use. Zeroed memory is a valid object.
///
/// A side arrives for use u only after all pieces of use u - 1 have been moved. So no piece of a
/// use is taken before both sides have begun that use.
template <typename Words>
class alignas(cache_line) BasicMeeting {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

 public:
  /// Announces that this side's buffer is ready. True if the other side's buffer is ready as well.
  bool arrive() {
    // Release: the content of our buffer. Acquire: that of the other side's.
    return arrivals_.fetch_add(1, std::memory_order_acq_rel) % 2 != 0;
  }
  /// Returns whether both sides are ready for use `use`.
  bool met(std::uint64_t use) const { return arrivals_.load(std::memory_order_acquire) >= 2 * use; }

  /// After both sides have met: the next piece that no side has taken, or `end`.
  std::uint64_t draw(std::uint64_t end) {
    // Relaxed: the buffers have been ready since both sides met, and this word only assigns each
    // piece to one side.
    std::uint64_t next = drawn_.load(std::memory_order_relaxed);
    while (next < end && !drawn_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
    }
    return next < end ? next : end;
  }
  /// Counts a piece as moved. True if it was the last one before `end`.
  bool moved(std::uint64_t end) {
    // Release: the bytes of this piece. Acquire: those of the pieces that the other side has moved.
    return moved_.fetch_add(1, std::memory_order_acq_rel) + 1 == end;
  }
  bool over(std::uint64_t end) const { return moved_.load(std::memory_order_acquire) >= end; }

  /// Marks use `use` as failed. A side that could not move a piece calls this before moved(). A
  /// sender whose own data are invalid calls this before it arrives.
  void fail(std::uint64_t use) { failed_[use % 2].store(use, std::memory_order_relaxed); }
  /// Returns whether use `use` has failed. This side calls it when the use is over, and before it
  /// arrives for the next one. So the other side has marked use `use` + 1 at most.
  bool failed(std::uint64_t use) const {
    return failed_[use % 2].load(std::memory_order_relaxed) == use;
  }

  /// Calls visit(word, name) for each of its words.
  template <typename Visit>
  void for_words(Visit&& visit) const {
    visit(arrivals_, "arrivals");
    visit(drawn_, "drawn");
    visit(moved_, "moved");
    visit(failed_[0], "failed, even");
    visit(failed_[1], "failed, odd");
  }

 private:
  Atomic<std::uint64_t> arrivals_{0};
  Atomic<std::uint64_t> drawn_{0};
  Atomic<std::uint64_t> moved_{0};
  std::array<Atomic<std::uint64_t>, 2> failed_{};  // last failed uses, even and odd
};

using Meeting = BasicMeeting<SharedWords>;

static_assert(sizeof(Meeting) == cache_line);

/// How the bytes of a transfer between mapped ranks move.
enum class LaneProtocol : std::uint8_t {
  staged,    // through cells: the sender copies into them, the receiver out of them
  one_copy,  // directly from buffer to buffer: see Meeting
  tried      // the first uses measure which method is fastest: see CopyTrial
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

/// The position of a lane on a board.
struct LaneEntry {
  std::uint64_t offset = 0;  // in the board; 0: nothing is expected, so there is no lane
  std::int32_t sender = 0;
};

/// The memory that one rank shares with the ranks of its node that send to it in one plan. Behind
/// it in memory are its entries, by sender and in the order of its sends, and its lanes.
struct alignas(cache_line) Board {
  std::uint64_t lanes = 0;
  /// The number of ranks that have stopped using this board. Each rank adds 1, with release, when
  /// it frees its plan. The owner reuses the memory when, after an acquire, it finds all of them
  /// counted.
  std::atomic<std::uint64_t> departed{0};

  LaneEntry* entries() { return reinterpret_cast<LaneEntry*>(this + 1); }
  Lane* lane(const LaneEntry& entry) {
    if (entry.offset == 0) return nullptr;
    return reinterpret_cast<Lane*>(reinterpret_cast<std::byte*>(this) + entry.offset);
  }
  /// The offset of the first lane on a board of `lanes` lanes.
  static std::uint64_t first_lane(std::uint64_t lanes) {
    return round_up(sizeof(Board) + lanes * sizeof(LaneEntry), cache_line);
  }
};

}  // namespace oriel
