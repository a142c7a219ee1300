// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "transport/shm/clock.hpp"

namespace oriel {

/// The time during which at least one thread of the process is in a blocking call that Oriel leaves
/// to the host: a message, a collective, or a wait for requests while no request of Oriel's is
/// pending. Processes that are not recorded read no clock. Any thread may call during(), without
/// the process lock.
class HostTime {
 public:
  void begin() {
    nanoseconds_.store(0, std::memory_order_relaxed);
    counted_.store(true, std::memory_order_relaxed);
  }
  void end() { counted_.store(false, std::memory_order_relaxed); }
  std::uint64_t nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }

  /// Makes the call and counts its time. Returns its result.
  template <typename Call>
  int during(Call&& call) {
    if (!counted_.load(std::memory_order_relaxed)) [[likely]]
      return call();
    if (threads_.fetch_add(1, std::memory_order_relaxed) == 0) {
      begun_.store(nanoseconds_now(), std::memory_order_relaxed);
    }
    const int code = call();
    const std::uint64_t now = nanoseconds_now();
    if (threads_.fetch_sub(1, std::memory_order_relaxed) == 1) {
      // Another thread may have begun since.
      const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
      nanoseconds_.fetch_add(now - std::min(begun, now), std::memory_order_relaxed);
    }
    return code;
  }

 private:
  std::atomic<bool> counted_{false};
  std::atomic<std::uint64_t> nanoseconds_{0};
  std::atomic<int> threads_{0};          // that are in such calls
  std::atomic<std::uint64_t> begun_{0};  // when the first of them began
};

}  // namespace oriel
