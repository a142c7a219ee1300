// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "transport/shm/clock.hpp"

namespace oriel {

/// The time of a process in blocking calls of the host, which Oriel passes on: messages,
/// collectives, waits for requests of the host. The sum of all threads. Counted only while the
/// process is recorded, so that other calls do not read the clock. Without the process lock.
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
    const std::uint64_t begun = nanoseconds_now();
    const int code = call();
    nanoseconds_.fetch_add(nanoseconds_now() - begun, std::memory_order_relaxed);
    return code;
  }

 private:
  std::atomic<bool> counted_{false};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace oriel
