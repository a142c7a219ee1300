// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace oriel {

/// Bytes cut into pieces of equal length; the last one may be shorter.
class Pieces {
 public:
  /// Makes at most `most` pieces of whole units. Zero bytes make one empty piece.
  Pieces(std::uint64_t bytes, std::uint64_t most, std::uint64_t unit = 1) : total_(bytes) {
    const std::uint64_t units = (bytes / unit + most - 1) / most;
    each_ = std::max<std::uint64_t>(units, 1) * unit;
    number_ = std::max<std::uint64_t>((bytes + each_ - 1) / each_, 1);
  }

  std::uint64_t number() const { return number_; }
  std::uint64_t first(std::uint64_t piece) const { return piece * each_; }
  std::uint64_t bytes(std::uint64_t piece) const { return std::min(each_, total_ - first(piece)); }

 private:
  std::uint64_t total_;
  std::uint64_t each_;
  std::uint64_t number_;
};

}  // namespace oriel
