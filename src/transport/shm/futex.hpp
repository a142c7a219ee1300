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

/// An event on which one thread waits until another thread signals it. A signal that arrives while
/// the thread is awake is kept for its next wait, so none is lost before the thread sleeps.
///
/// One word has the state. Only the waiting thread sets `waiting` and `awake`; any other thread
/// sets `signaled`.
class WakeEvent {
 public:
  /// Signals the event, on any thread. Cheap unless it wakes the waiting thread.
  void signal() {
    if (!is_signaled() && state_.exchange(signaled, std::memory_order_acq_rel) == waiting) {
      futex_wake_all(state_);
    }
  }
  bool is_signaled() const { return state_.load(std::memory_order_relaxed) == signaled; }

  /// Waits, on the waiting thread. True if the event was signaled since the last wait. False if the
  /// time is over, or earlier, after a POSIX signal or a late wake-up of the previous event.
  bool wait(std::uint64_t nanoseconds) {
    std::uint32_t expected = awake;
    if (state_.compare_exchange_strong(expected, waiting, std::memory_order_acq_rel)) {
      futex_wait(state_, waiting, nanoseconds);
    }
    return state_.exchange(awake, std::memory_order_acq_rel) == signaled;
  }

 private:
  enum State : std::uint32_t { awake, waiting, signaled };

  std::atomic<std::uint32_t> state_{awake};
};

}  // namespace oriel
