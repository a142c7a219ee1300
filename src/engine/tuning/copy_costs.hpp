// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// What copies into another process by a system call take on this machine. They differ from system
/// to system by more than a factor of ten: where they are slow (virtual machines, sandboxes), two
/// copies by the processor may always be faster. Where they are refused nobody asks: ranks of a
/// node are elsewhere to one another then.
struct CopyCosts {
  /// What is longer is faster by one call. What is not may be so all the same: two processes that
  /// copy twice move each cache line between their processors twice, which one process alone cannot
  /// measure, so each transfer tries (core/collective/copy_trial.hpp).
  std::uint64_t most_copied_twice = 0;
  /// From this length on the call itself is lost in what it copies.
  std::uint64_t worth_a_call = 0;
};

/// As measured once, within a millisecond. Thread-safe.
const CopyCosts& copy_costs();

}  // namespace oriel
