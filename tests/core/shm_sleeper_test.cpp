// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/sleeper.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shm_processes.hpp"

namespace oriel {
namespace {

/// The next message if there is one.
bool take(ShmTransport& transport, std::vector<std::byte>& message) {
  const auto got = transport.receive();
  message.assign(got.begin(), got.end());
  return !got.empty();
}

using shm_test::Child;
using shm_test::OwnTransport;
using shm_test::Pipe;
using shm_test::ShmTest;
using Clock = std::chrono::steady_clock;

class ShmSleeper : public ShmTest {
 protected:
  ShmSleeper() : transport_(error_) {}

  std::string error_;
  OwnTransport transport_;
};

constexpr auto nothing = [] { return false; };

/// Keeps the calling process on the `index`th processor that it may use; false where there are
/// fewer.
bool stay_on(int index) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  return false;
}

/// What the storer does: the store, then the look, ordered for the compiler only.
void store_and_ring(ShmTransport& transport, int process, std::atomic<std::uint64_t>& word,
                    std::uint64_t value) {
  word.store(value, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Doorbell& bell = transport.doorbell(process);
  if (bell.sleeping.load(std::memory_order_relaxed) != 0) transport.ring(bell);
}

void wait_for(ShmTransport& transport, Sleeper& sleeper, const std::atomic<std::uint64_t>& word,
              std::uint64_t value) {
  const auto there = [&] { return word.load(std::memory_order_acquire) >= value; };
  while (!there()) sleeper.sleep(there);
  sleeper.rise();
  EXPECT_EQ(transport.doorbell(0).sleeping, 0u);
}

// It says so at the doorbell while it sleeps, and between two sleeps.
TEST_F(ShmSleeper, ShowsThatItSleeps) {
  Sleeper sleeper(*transport_);
  const Doorbell& bell = transport_->doorbell(0);
  EXPECT_EQ(bell.sleeping, 0u);
  EXPECT_FALSE(sleeper.sleep([&] {
    EXPECT_EQ(bell.sleeping, 1u);
    return false;
  }));
  EXPECT_EQ(bell.sleeping, 1u);
  sleeper.rise();
  EXPECT_EQ(bell.sleeping, 0u);
}

// What the last look finds ends the rest before it began.
TEST_F(ShmSleeper, LastLookPreventsTheSleep) {
  Sleeper sleeper(*transport_);
  EXPECT_TRUE(sleeper.sleep([] { return true; }));
  EXPECT_EQ(transport_->doorbell(0).sleeping, 0u);
}

// A call that ends while its waiter lies leaves the doorbell as it was.
TEST_F(ShmSleeper, DestructorRises) {
  {
    Sleeper sleeper(*transport_);
    sleeper.sleep(nothing);
    EXPECT_EQ(transport_->doorbell(0).sleeping, 1u);
  }
  EXPECT_EQ(transport_->doorbell(0).sleeping, 0u);
}

// A ring between the last look and the wait is not slept over.
TEST_F(ShmSleeper, RingBeforeTheWaitCounts) {
  Sleeper sleeper(*transport_);
  for (int i = 0; i < 200; ++i) {
    sleeper.sleep([&] {
      transport_->ring(transport_->doorbell(0));
      return false;
    });
  }
  // 200 sleeps of up to 10 ms would take two seconds.
  const auto begin = Clock::now();
  for (int i = 0; i < 200; ++i) {
    sleeper.sleep([&] {
      transport_->ring(transport_->doorbell(0));
      return false;
    });
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(1));
}

// Several threads of one process may sleep; the first to rise does not hide the others.
TEST_F(ShmSleeper, SleepersOfOneProcessAreCounted) {
  Sleeper first(*transport_);
  Sleeper second(*transport_);
  first.sleep(nothing);
  second.sleep(nothing);
  first.rise();
  EXPECT_EQ(transport_->doorbell(0).sleeping, 1u);
}

// Two threads that wake each other by stores. Clean under ThreadSanitizer.
TEST_F(ShmSleeper, ThreadsWakeEachOther) {
  const OwnTransport other(error_);
  const int to_other = transport_->attach(other->name(), error_);
  const int to_us = other->attach(transport_->name(), error_);
  constexpr std::uint64_t rounds = 2000;
  std::atomic<std::uint64_t> ping{0};
  std::atomic<std::uint64_t> pong{0};
  std::jthread thread([&] {
    Sleeper sleeper(*other);
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      wait_for(*other, sleeper, ping, i);
      store_and_ring(*other, to_us, pong, i);
    }
  });
  Sleeper sleeper(*transport_);
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    store_and_ring(*transport_, to_other, ping, i);
    wait_for(*transport_, sleeper, pong, i);
  }
}

// The ordering that Sleeper's comment argues for, round by round: never does the storer miss that
// the sleeper lies while the sleeper's last look misses the word.
TEST_F(ShmSleeper, StorerAndSleeperNeverMissEachOther) {
  struct Words {
    alignas(64) std::atomic<std::uint64_t> round{0};   // begins a round
    alignas(64) std::atomic<std::uint64_t> word{0};    // what the sleeper waits for
    alignas(64) std::atomic<std::uint64_t> looked{0};  // the storer is done with the round
    std::atomic<std::uint32_t> sleeping{0};            // what it saw
  };
  Arena arena(OwnTransport::extent);
  auto* words = new (arena.allocate(sizeof(Words), alignof(Words), error_)) Words;
  constexpr std::uint64_t rounds = 50000;
  const auto until = [](const std::atomic<std::uint64_t>& word, std::uint64_t value) {
    for (unsigned turn = 1; word.load(std::memory_order_acquire) < value; ++turn) {
      if (turn % 1000 == 0) ::sched_yield();
    }
  };
  Pipe to_child, to_parent;
  Child storer([&] {
    if (!stay_on(1)) return 3;
    std::string error;
    const OwnTransport transport(error);
    const int peer = transport->attach(to_child.get<ProcessName>(), error);
    to_parent.put(transport->name());
    Doorbell& bell = transport->doorbell(peer);
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      until(words->round, i);
      if (words->round.load(std::memory_order_relaxed) > rounds) break;
      words->word.store(i, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      const std::uint32_t sleeping = bell.sleeping.load(std::memory_order_relaxed);
      words->sleeping.store(sleeping, std::memory_order_relaxed);
      words->looked.store(i, std::memory_order_release);
    }
    return 0;
  });
  Child sleeper([&] {
    if (!stay_on(0)) return 3;
    std::string error;
    const OwnTransport transport(error);
    to_child.put(transport->name());
    if (transport->attach(to_parent.get<ProcessName>(), error) < 0) return 2;
    if (!transport->fences_peers()) return 3;
    Sleeper resting(*transport);
    bool lost = false;
    // On a crowded machine the two hardly ever run at the same time: then fewer rounds must do.
    const auto end = Clock::now() + std::chrono::seconds(10);
    for (std::uint64_t i = 1; i <= rounds && Clock::now() < end; ++i) {
      words->round.store(i, std::memory_order_release);
      // The storer needs a while to see that: let both arrive at the same time in some rounds.
      for (volatile std::uint64_t delay = i % 64; delay > 0;) delay = delay - 1;
      const auto look = [&] {
        const bool saw = words->word.load(std::memory_order_acquire) == i;
        until(words->looked, i);
        lost = lost || (!saw && words->sleeping.load(std::memory_order_relaxed) == 0);
        return true;
      };
      resting.sleep(look);
    }
    words->round.store(rounds + 1, std::memory_order_release);
    return lost ? 1 : 0;
  });
  const int result = sleeper.join();
  if (result == 3) GTEST_SKIP() << "needs two processors and the expedited membarrier";
  EXPECT_EQ(result, 0);
  EXPECT_EQ(storer.join(), 0);
}

// A message wakes its receiver.
TEST_F(ShmSleeper, MessageWakes) {
  Pipe to_child, to_parent;
  Child child([&] {
    std::string error;
    const OwnTransport transport(error);
    to_parent.put(transport->name());
    const int parent = transport->attach(to_child.get<ProcessName>(), error);
    Sleeper sleeper(*transport);
    std::vector<std::byte> message;
    for (int i = 0; i < 2000; ++i) {
      bool got = false;
      const auto look = [&] { return got = got || take(*transport, message); };
      while (!look()) sleeper.sleep(look);
      sleeper.rise();
      transport->send(parent, message, {});
    }
    return 0;
  });
  to_child.put(transport_->name());
  const int peer = transport_->attach(to_parent.get<ProcessName>(), error_);
  ASSERT_EQ(peer, 1) << error_;
  Sleeper sleeper(*transport_);
  std::vector<std::byte> message;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<std::byte> sent(static_cast<std::size_t>(i + 1), std::byte{1});
    transport_->send(peer, sent, {});
    bool got = false;
    const auto look = [&] { return got = got || take(*transport_, message); };
    while (!look()) sleeper.sleep(look);
    sleeper.rise();
    ASSERT_EQ(message, sent);
  }
  EXPECT_EQ(child.join(), 0);
}

}  // namespace
}  // namespace oriel
