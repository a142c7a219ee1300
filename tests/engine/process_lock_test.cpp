// SPDX-License-Identifier: BSD-3-Clause
// The lock of a process that has the agent, and perhaps more threads later.
#include "engine/process/process_lock.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace oriel {
namespace {

/// Adds to a number that both threads add to, whenever the agent gets the lock.
class AgentThread {
 public:
  AgentThread(ProcessLock& lock, long& sum) : lock_(lock), sum_(sum), thread_([this] { run(); }) {}
  long stop() {
    stopping_ = true;
    thread_.join();
    return added_;
  }
  bool has_added(long times) const { return shown_.load() >= times; }

 private:
  void run() {
    while (!stopping_) {
      if (const AgentGuard guard{lock_}) {
        ++sum_;
        shown_ = ++added_;
      }
      ::sched_yield();
    }
  }

  ProcessLock& lock_;
  long& sum_;
  long added_ = 0;
  std::atomic<long> shown_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

TEST(ProcessLock, IsFreeForOneThread) {
  ProcessLock lock;
  const Guard guard(lock);
  EXPECT_FALSE(lock.enabled());
  EXPECT_FALSE(lock.among_many());
  EXPECT_TRUE(bool(TryGuard(lock)));
}

TEST(ProcessLock, ExcludesTheAgent) {
  ProcessLock lock;
  lock.enable_beside_agent();
  EXPECT_TRUE(lock.enabled());
  long sum = 0;
  long added = 0;
  AgentThread agent(lock, sum);
  while (!agent.has_added(50)) {
    {
      const Guard guard(lock);
      EXPECT_FALSE(bool(TryGuard(lock))) << "held by this thread";
      ++sum;
      ++added;
    }
    if (const TryGuard guard{lock}) {
      ++sum;
      ++added;
    }
    // The agent gives up as long as this thread has it: a program computes in between.
    if (added % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_EQ(sum, added + agent.stop());
}

// A session may be begun when there is the agent already, by any thread, while the usual one makes
// its calls.
TEST(ProcessLock, BecomesAMutexBesideTheAgent) {
  for (int turn = 0; turn < 20; ++turn) {
    ProcessLock lock;
    lock.enable_beside_agent();
    long sum = 0;
    AgentThread agent(lock, sum);
    const auto add = [&](long times) {
      for (long i = 0; i < times; ++i) {
        const Guard guard(lock);
        EXPECT_FALSE(bool(TryGuard(lock)));
        ++sum;
      }
      return times;
    };
    long others = 0;
    std::thread another([&] {
      lock.enable();
      EXPECT_TRUE(lock.among_many());
      others = add(2000);
    });
    long added = 0;
    while (!lock.among_many()) added += add(1);
    added += add(2000);
    another.join();
    while (!agent.has_added(1)) ::sched_yield();
    EXPECT_EQ(sum, added + others + agent.stop());
    lock.enable();  // nothing more changes
    EXPECT_TRUE(bool(TryGuard(lock)));
  }
}

// The agent gives up a row of sweeps for the program.
TEST(ProcessLock, TellsTheAgentThatTheProgramWaits) {
  for (const bool among_many : {false, true}) {
    ProcessLock lock;
    lock.enable_beside_agent();
    if (among_many) lock.enable();
    std::atomic<bool> held{false};
    std::thread agent([&] {
      const AgentGuard guard(lock);
      EXPECT_TRUE(bool(guard));
      EXPECT_FALSE(lock.is_wanted());
      held = true;
      while (!lock.is_wanted()) ::sched_yield();
    });
    while (!held) ::sched_yield();
    {
      const Guard guard(lock);
    }
    agent.join();
    const AgentGuard guard(lock);
    EXPECT_FALSE(lock.is_wanted());
  }
}

// A thread waits in a call that has begun without the lock; meanwhile another one begins a session.
TEST(ProcessLock, IsTakenByACallThatHasBegunWithoutIt) {
  ProcessLock lock;
  const auto is_free = [&] {
    bool free = false;
    std::thread([&] { free = bool(TryGuard(lock)); }).join();
    return free;
  };
  {
    const Guard call(lock);
    std::thread([&] { lock.enable(); }).join();
    EXPECT_TRUE(is_free());
    lock.release();  // which it does not hold
    EXPECT_TRUE(is_free());
    lock.acquire();
    EXPECT_FALSE(is_free());
    lock.release();
    EXPECT_TRUE(is_free());
    lock.acquire();
  }
  EXPECT_TRUE(is_free());
  {
    const Guard call(lock);
    EXPECT_FALSE(is_free());
  }
}

}  // namespace
}  // namespace oriel
