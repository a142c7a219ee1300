// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "transport/shm/futex.hpp"

namespace oriel {

/// A thread that has nothing to do waits here until another one gives it a wake-up. A wake-up that
/// finds it awake is kept for the next wait, so none is lost between its last look and its sleep.
///
/// One word says which of the three it is. The waiting thread alone takes it to `waiting` and back
/// to `awake`, any other to `woken`.
class WakeEvent {
 public:
  /// On any thread. Cheap unless it wakes somebody.
  void give() {
    if (!given() && state_.exchange(signaled, std::memory_order_acq_rel) == waiting) {
      futex_wake_all(state_);
    }
  }
  bool given() const { return state_.load(std::memory_order_relaxed) == signaled; }

  /// On the waiting thread: true once it has been woken since the last wait, false when the time
  /// is over; earlier, too, if a signal came or somebody still wakes it for the last wake-up.
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
