// SPDX-License-Identifier: BSD-3-Clause
// What wakes the progress agent (S5).
#include "transport/shm/futex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace oriel {
namespace {

constexpr std::uint64_t moment = 1'000'000;
constexpr std::uint64_t long_time = 20'000'000'000;

TEST(WakeEvent, ThatFindsTheThreadAwakeIsKept) {
  WakeEvent event;
  event.signal();
  EXPECT_TRUE(event.is_signaled());
  EXPECT_TRUE(event.wait(moment));
  EXPECT_FALSE(event.is_signaled());
  EXPECT_FALSE(event.wait(moment));
}

TEST(WakeEvent, GivenTwiceIsOne) {
  WakeEvent event;
  event.signal();
  event.signal();
  EXPECT_TRUE(event.wait(moment));
  EXPECT_FALSE(event.wait(moment));
}

/// One that was lost would show as a wait that takes its whole time and says false.
TEST(WakeEvent, IsNeverLost) {
  constexpr int nudges = 20'000;
  WakeEvent event;
  std::atomic<int> heard{0};
  int waits_in_vain = 0;
  std::thread waiter([&] {
    while (heard.load(std::memory_order_relaxed) < nudges) {
      const auto start = std::chrono::steady_clock::now();
      if (!event.wait(long_time)) {
        if (std::chrono::steady_clock::now() - start < std::chrono::nanoseconds(long_time))
          continue;
        if (++waits_in_vain == 2) return heard.store(nudges, std::memory_order_release);
        continue;
      }
      heard.fetch_add(1, std::memory_order_release);
    }
  });
  for (int given = 0; given < nudges; ++given) {
    event.signal();
    while (heard.load(std::memory_order_acquire) <= given) std::this_thread::yield();
  }
  waiter.join();
  EXPECT_EQ(waits_in_vain, 0);
}

}  // namespace
}  // namespace oriel
