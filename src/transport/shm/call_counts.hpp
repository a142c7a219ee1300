// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/cache_line.hpp"

namespace oriel {

/// How many calls on windows a process has made, as it shows its peers and `oriel top`. The start
/// of a persistent request of ours is one of them; waits and tests are not, nor the making of
/// windows.
class alignas(cache_line) CallCounts {
 public:
  /// Another call, with the owner's process lock.
  void count() { locked_.store(locked() + 1, std::memory_order_relaxed); }
  /// Further calls on the hot paths, of any thread of the owner.
  void add_hot(std::uint64_t calls) { hot_.fetch_add(calls, std::memory_order_relaxed); }
  /// A call has returned from a long wait. With the process lock.
  void end_wait(std::uint64_t now) {
    ended_.store(now, std::memory_order_release);
    locked_then_.store(locked(), std::memory_order_release);
  }

  /// Of the calls that are counted one by one, those so far.
  std::uint64_t locked() const { return locked_.load(std::memory_order_relaxed); }
  /// When the last call ended, if it had waited long; 0: it had not.
  std::uint64_t quiet_since() const {
    // In this order: of a wait that ends meanwhile the call has been counted.
    const std::uint64_t then = locked_then_.load(std::memory_order_acquire);
    const std::uint64_t ended = ended_.load(std::memory_order_acquire);
    return then == locked() ? ended : 0;
  }

 private:
  // python/oriel/top/process_block.py reads them.
  std::atomic<std::uint64_t> locked_{0};
  std::atomic<std::uint64_t> hot_{0};
  std::atomic<std::uint64_t> ended_{0};        // nanoseconds of the monotonic clock; 0: none
  std::atomic<std::uint64_t> locked_then_{0};  // locked_ at that time
};
static_assert(sizeof(CallCounts) == cache_line);

}  // namespace oriel
