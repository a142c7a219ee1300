// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/limits.hpp"
#include "core/base/shared_words.hpp"

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
    return (payload_offset(space) + space + cache_line - 1) / cache_line * cache_line;
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

}  // namespace oriel
