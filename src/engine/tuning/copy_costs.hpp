// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The costs of copies from or to another process by a system call on this machine. They differ
/// between systems by more than a factor of ten: where calls are slow (virtual machines,
/// sandboxes), two copies by the processor may be faster for all lengths. If the system refuses the
/// calls, ranks of one node treat each other as remote, and these costs are not used.
struct CopyCosts {
  /// Longer copies are faster by one call. Shorter ones may be, too: two processes that copy twice
  /// move each cache line between their processors twice, which one process alone cannot measure,
  /// so each transfer tries both (core/collective/copy_trial.hpp).
  std::uint64_t most_copied_twice = 0;
  /// From this length on the time of the call itself is negligible.
  std::uint64_t worth_a_call = 0;
};

/// The costs, measured at the first call, within a millisecond. Thread-safe.
const CopyCosts& copy_costs();

}  // namespace oriel
