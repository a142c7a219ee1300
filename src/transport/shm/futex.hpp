// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace oriel {

// Shared futexes (no FUTEX_PRIVATE_FLAG): waiter and waker are different processes.

/// Sleeps if the word holds `expected`, until a wake-up, a signal, or the end of the time.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t nanoseconds) {
  const timespec timeout{static_cast<time_t>(nanoseconds / 1'000'000'000),
                         static_cast<long>(nanoseconds % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace oriel
