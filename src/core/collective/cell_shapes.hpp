// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/limits.hpp"
#include "core/collective/cell.hpp"

namespace oriel {

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
