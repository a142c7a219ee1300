// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/operation/operation.hpp"

namespace oriel {

/// Looks for a byte that two buffers have, or one has twice, in about so many steps as they have
/// runs of bytes, however these interleave.
class OverlapSearch {
 public:
  /// The numbers of two that have a byte in common, the lower one first; of one that has a byte
  /// twice, its own.
  using Pair = std::pair<std::size_t, std::size_t>;
  std::optional<Pair> find(std::span<const Buffer> buffers);

  /// What the last search has looked at: runs, words of the map, and comparisons of those that were
  /// sorted instead.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Area;

  static bool bounds_meet(std::span<const Buffer> buffers);
  std::optional<Pair> find_in_map(std::span<const Buffer> buffers, const Area& area);
  std::optional<Pair> find_by_sorting(std::span<const Buffer> buffers);
  Pair with(std::size_t later, std::uintptr_t byte, std::span<const Buffer> buffers);

  std::uint64_t steps_ = 0;
};

}  // namespace oriel
