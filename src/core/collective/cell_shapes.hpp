// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/limits.hpp"

namespace oriel {

/// The cells of a lane.
struct CellShape {
  std::uint32_t room = 0;   // bytes of each
  std::uint16_t count = 0;  // 0: there are none
  bool wanted = false;      // the receiver may want them to be used, rather than a direct copy
};

/// What is received from mapped ranks by cells, and how many a plan of so many long transfers can
/// afford. A message up to all its cells together needs no attention of the receiver; a longer one
/// goes through them as a pipeline, where both sides are at hand.
class CellShapes {
 public:
  CellShapes(const Limits& limits, std::uint64_t long_transfers)
      : limits_(limits),
        piece_(limits.staged_piece),
        count_(limits.staged_pipelines ? limits.staged_cells : limits.staged_whole) {
    while (count_ > fewest && long_transfers * piece_ * count_ > limits.staged_bytes) count_ /= 2;
    while (piece_ > smallest_piece && long_transfers * piece_ * count_ > limits.staged_bytes) {
      piece_ /= 2;
    }
  }

  /// `mappable`: peers can store into the receiver's buffer, so that one copy needs no system call.
  static bool wanted(const Limits& limits, std::uint64_t bytes, bool mappable) {
    if (!limits.staged_pipelines && bytes > limits.staged_whole * limits.staged_piece) return false;
    return bytes <= (mappable ? limits.staged_mapped : limits.staged);
  }
  /// Whether such a transfer is one of the long ones.
  static bool is_long(const Limits& limits, std::uint64_t bytes, bool mappable) {
    return bytes > limits.staged_piece && wanted(limits, bytes, mappable);
  }

  /// `runs`: the receiver's buffer lies in one run. Else the sender's may not, either, and no
  /// process can make a direct copy: there are cells for that.
  CellShape of(std::uint64_t bytes, bool runs, bool mappable) const {
    const bool fits = bytes <= piece_ * std::max(fewest, count_);
    if (wanted(limits_, bytes, mappable) && (fits || limits_.staged_pipelines)) {
      const std::uint64_t pieces = (bytes + piece_ - 1) / piece_;
      return shape(std::min(bytes, piece_), std::clamp(pieces, fewest, std::max(fewest, count_)),
                   true);
    }
    if (runs) return {};
    return shape(piece_, fewest, false);
  }

 private:
  static CellShape shape(std::uint64_t room, std::uint64_t count, bool wanted) {
    return {static_cast<std::uint32_t>(room), static_cast<std::uint16_t>(count), wanted};
  }

  static constexpr std::uint64_t fewest = 2;
  static constexpr std::uint64_t smallest_piece = 4096;

  const Limits& limits_;
  std::uint64_t piece_;
  std::uint64_t count_;
};

}  // namespace oriel
