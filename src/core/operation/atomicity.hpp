// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/operation/reduction.hpp"

namespace oriel {

/// The freedom that a window's info keys give for accumulates on several elements (MPI-4.1, section
/// 12.2.1). Without a key, an accumulate on one contiguous block is one update: other accumulates
/// see all of it or nothing. MPI requires atomic elements only, but every host gives whole calls,
/// and programs rely on them.
struct Atomicity {
  /// mpi_accumulate_granularity: bytes that must be updated as a whole, rounded up to elements. 0:
  /// Oriel decides.
  std::uint64_t granularity = 0;
  /// accumulate_ops=same_op: concurrent accumulates on one location have the same op.
  bool same_op = false;

  /// True if each element may be updated by itself.
  bool by_elements(const Reduction& reduction, bool fetches) const {
    if (granularity != 0 && granularity <= reduction.element) return true;
    // No operation reads meanwhile, and the result does not depend on the order, except for
    // replace.
    return same_op && !fetches && reduction.op != Op::replace;
  }
};

}  // namespace oriel
