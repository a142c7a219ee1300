// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

namespace oriel {

/// What the makers of a plan settle beside its transfers.
struct PlanTerms {
  /// 63 bits, the same on all ranks, whatever they mean to them.
  std::uint64_t signature = 0;
  /// The number of a fault that the caller has found with its arguments: all ranks learn of it. 0:
  /// none.
  int bad_arguments = 0;
  /// This rank can do with a choice of 0 alone.
  bool bound = false;
  /// Asked on rank 0, where no rank is bound, for what all ranks then find in Plan::choice(): by
  /// the bytes of the longest message that any of them sends, as far as longest_told tells them
  /// apart. Null: 0.
  std::function<std::uint8_t(std::uint64_t longest)> choose;

  static constexpr std::uint64_t longest_told = (std::uint64_t{1} << 30) - 1;
};

}  // namespace oriel
