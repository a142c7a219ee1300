// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"

namespace oriel {

/// The number of calls on windows that a process has made, for its peers and `oriel top`. Counts
/// starts of Oriel's persistent requests, but not waits, tests, or the creation of windows.
class alignas(cache_line) CallCounts {
 public:
  /// Counts a call. With the owner's process lock.
  void count() { locked_.store(locked() + 1, std::memory_order_relaxed); }
  /// Adds calls on hot paths. Called by any thread of the owner.
  void add_hot(std::uint64_t calls) { hot_.fetch_add(calls, std::memory_order_relaxed); }
  /// Called when a call has returned from a long wait. With the process lock.
  void end_wait(std::uint64_t now) {
    ended_.store(now, std::memory_order_release);
    locked_then_.store(locked(), std::memory_order_release);
  }

  /// The number of calls that count() has counted.
  std::uint64_t locked() const { return locked_.load(std::memory_order_relaxed); }
  /// The time at which the last call ended, if it had waited long; otherwise 0.
  std::uint64_t quiet_since() const {
    // This order: if `ended` is of a wait that ends meanwhile, its call has been counted, and the
    // comparison fails.
    const std::uint64_t then = locked_then_.load(std::memory_order_acquire);
    const std::uint64_t ended = ended_.load(std::memory_order_acquire);
    return then == locked() ? ended : 0;
  }

 private:
  // python/oriel/top/process_block.py reads them.
  std::atomic<std::uint64_t> locked_{0};
  std::atomic<std::uint64_t> hot_{0};
  std::atomic<std::uint64_t> ended_{0};        // nanoseconds of the monotonic clock; 0: none
  std::atomic<std::uint64_t> locked_then_{0};  // locked_ at the time `ended_`
};
static_assert(sizeof(CallCounts) == cache_line);

}  // namespace oriel
