// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/operation/reduction.hpp"

namespace oriel {

/// Of one type and op: target[i] = origin[i] op target[i], and the old value to fetched[i] unless
/// `fetched` is null.
using Kernel = void (*)(void* target, const void* origin, void* fetched, std::size_t count);

/// For the types behind Basic::f64, which one origin alone updates, or, where they are of a word's
/// size, a compare-exchange around the kernel. Null: MPI has no such op on the type, or this
/// processor's compiler no such type. Not for replace and no_op, which no type is needed for.
Kernel uncommon_kernel(Basic basic, Op op);

/// Bytes of one element, gaps within it included; 0: any number, or no such type.
std::uint32_t uncommon_bytes(Basic basic);

}  // namespace oriel
