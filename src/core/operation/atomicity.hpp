// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/operation/operation.hpp"
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

/// Sets of ops and of types, as bits in the order of Op and Basic. The bit after those of the ops
/// is compare-and-swap.
using OpSet = std::uint32_t;
using TypeSet = std::uint32_t;

constexpr OpSet bit(Op op) {
  return OpSet{1} << static_cast<unsigned>(op);
}
constexpr TypeSet bit(Basic basic) {
  return TypeSet{1} << static_cast<unsigned>(basic);
}
static_assert(op_count < 32 && basic_count <= 32, "the sets have a bit for each");
constexpr OpSet compare_swap_bit = OpSet{1} << op_count;
constexpr OpSet every_op = 2 * compare_swap_bit - 1;

/// The ops that MPI has for a type that the processor has instructions for.
constexpr OpSet ops_on(Basic basic) {
  if (basic == Basic::f32 || basic == Basic::f64) return 2 * bit(Op::max) - 1;
  return (2 * bit(Op::bxor) - 1) | compare_swap_bit;
}

/// The accumulates on a window that the transport carries out by its own atomics: `ops` on elements
/// of `types`, for every origin. The transport's atomics are not atomic with the CPU's, so a type
/// is in the set only if the transport has all ops on it that the program may use.
struct AtomicSet {
  TypeSet types = 0;
  OpSet ops = 0;

  bool empty() const { return types == 0; }
  bool has(OpSet op, Basic basic) const { return (types & bit(basic)) != 0 && (ops & op) != 0; }
  bool has(const Operation& operation) const {
    switch (operation.kind) {
      case OperationKind::accumulate:
      case OperationKind::get_accumulate:
        return has(bit(operation.reduction.op), operation.reduction.basic);
      case OperationKind::compare_and_swap:
        return has(compare_swap_bit, operation.reduction.basic);
      default:
        return false;
    }
  }
};

}  // namespace oriel
