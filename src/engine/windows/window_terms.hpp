// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/epoch/activation.hpp"
#include "core/operation/atomicity.hpp"

namespace oriel {

/// Where a window's memory comes from: `created`: the program has it; `allocated`, `shared`: Oriel
/// allocates it, for shared windows such that each rank can map all of it; `dynamic`: the program
/// attaches it later.
enum class WindowFlavor : std::uint8_t { created, allocated, shared, dynamic };

/// How accumulates on a window can be intrinsic, as found when it is made. never: not at all;
/// as_asked: by the processors' atomics, on the handles that request it; always: by the network's,
/// on all handles.
enum class Intrinsic : std::uint8_t { never, as_asked, always };

/// The info keys that a window is made with, except those that concern its handles alone.
struct WindowTerms {
  std::uint64_t alignment = 64;  // of memory that is allocated
  bool noncontiguous = false;    // a shared window: the ranks' memory need not be contiguous
  bool intrinsic = false;        // accumulates are to be, and after make_window() are, intrinsic
  bool ordered = false;          // operations to one target complete there in the order of issue
  OpSet ops = every_op;          // that accumulates use
  Atomicity atomicity;
  bool no_locks = false;
  Reorder reorder;
};

}  // namespace oriel
