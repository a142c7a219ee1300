// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/operation/operation.hpp"

namespace oriel {

/// Searches for a byte that two buffers share, or that one buffer has twice. The steps are about as
/// many as the runs of the buffers, however these interleave.
class OverlapSearch {
 public:
  /// The indices of two buffers that share a byte, the lower one first; twice the same index for a
  /// buffer that has a byte twice.
  using Pair = std::pair<std::size_t, std::size_t>;
  std::optional<Pair> find_overlap(std::span<const Buffer> buffers);

  /// Steps of the last search: runs and words of the map that it visited, and comparisons of runs
  /// that it sorted instead.
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
