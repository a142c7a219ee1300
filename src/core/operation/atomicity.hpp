// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/operation/reduction.hpp"

namespace oriel {

/// What a window's info keys permit of accumulates on several elements (MPI-4.1, section 12.2.1).
/// Without a key, one call's update of one contiguous block is one update: other accumulates see
/// all of it or nothing. MPI asks for atomic elements only; every host gives whole calls, and
/// programs rely on them.
struct Atomicity {
  /// mpi_accumulate_granularity: bytes that have to be updated as a whole, rounded up to elements.
  /// 0: the program leaves it to us.
  std::uint64_t granularity = 0;
  /// accumulate_ops is same_op: accumulates of one place that are made at the same time have the
  /// same op.
  bool same_op = false;

  /// Whether each element may be updated by itself.
  bool by_elements(const Reduction& reduction, bool fetches) const {
    if (granularity != 0 && granularity <= reduction.element) return true;
    // Nobody reads at the same time, and the result is the same in any order, but for replace.
    return same_op && !fetches && reduction.op != Op::replace;
  }
};

}  // namespace oriel
