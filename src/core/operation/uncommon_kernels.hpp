// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/operation/reduction.hpp"

namespace oriel {

/// The kernel of one type and op: target[i] = origin[i] op target[i]. The old values go to
/// `fetched` unless it is null.
using Kernel = void (*)(void* target, const void* origin, void* fetched, std::size_t count);

/// The kernel of a type behind Basic::f64. Only one updater at a time applies it to the target's
/// memory; for types of a word's size a compare-exchange loop applies it to a copy instead. Null if
/// MPI has no such op on the type or the compiler has no such type. Not for replace and no_op,
/// which need no type.
Kernel uncommon_kernel(Basic basic, Op op);

/// Bytes of one element, with the padding within it; 0 if it may be any number, or if the compiler
/// has no such type.
std::uint32_t uncommon_bytes(Basic basic);

}  // namespace oriel
