// SPDX-License-Identifier: BSD-3-Clause
// The lock between the program and the agent, with real threads; every execution of it is searched
// by the model checker.
#include "core/lock/biased_lock.hpp"

#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace oriel {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // ThreadSanitizer knows no membarrier
#else
constexpr bool sanitized = false;
#endif

void fence() {
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

TEST(BiasedLock, ExcludesTwoThreads) {
  const bool asymmetric =
      !sanitized && ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  BiasedLock lock(asymmetric);
  long sum = 0;  // of what both have added
  long added = 0;
  constexpr long enough = 200;
  std::atomic<bool> over{false};
  std::jthread seldom([&] {
    for (long tries = 0; added < enough && tries < 50'000'000; ++tries) {
      if (!lock.try_acquire_seldom(fence)) {
        ::sched_yield();
        continue;
      }
      ++sum;
      ++added;
      lock.release_seldom();
    }
    over = true;
  });
  long usual = 0;
  while (!over) {
    if (usual % 3 == 0) {
      if (!lock.try_acquire()) continue;
      EXPECT_FALSE(lock.try_acquire()) << "it is held by this thread";
    } else {
      EXPECT_TRUE(lock.acquire([] { ::sched_yield(); }));
    }
    ++sum;
    ++usual;
    lock.release();
    // The seldom side gives up as long as this one has it.
    if (usual % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  seldom.join();
  EXPECT_EQ(sum, usual + added);
  EXPECT_EQ(added, enough);
}

}  // namespace
}  // namespace oriel
