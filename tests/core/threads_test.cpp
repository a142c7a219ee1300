// SPDX-License-Identifier: BSD-3-Clause
// The core with its ranks as threads that share memory for real: for ThreadSanitizer, which sees
// each pair of release and acquire that is missing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/lock/lock_line.hpp"
#include "core/lock/update.hpp"
#include "support/calls.hpp"
#include "support/jobs.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"

namespace oriel::test {
namespace {

constexpr auto limit = std::chrono::seconds(60);

/// Each rank's part of a program in a thread of its own.
std::string run_as_threads(SimJob& job, const Program& program) {
  Barrier barrier(program.ranks);
  std::deque<Runner> runners;
  for (int rank = 0; rank < program.ranks; ++rank)
    runners.emplace_back(job, program, barrier, rank);
  std::atomic<int> left{program.ranks};
  std::atomic<bool> stop{false};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const auto play = [&](int rank) {
    Runner& runner = runners[static_cast<std::size_t>(rank)];
    bool finished = false;
    while (!stop.load() && left.load() != 0) {
      const Runner::Step step = finished ? Runner::Step::blocked : runner.step();
      if (runner.failed()) stop = true;
      if (step == Runner::Step::finished) {
        finished = true;
        --left;
      }
      if (step == Runner::Step::moved || step == Runner::Step::away) continue;
      // A rank that has finished still serves the others, as MPI_Finalize does.
      if (!job.process(rank).sweep()) std::this_thread::yield();
      if (std::chrono::steady_clock::now() > deadline) stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < program.ranks; ++rank) threads.emplace_back(play, rank);
  for (std::thread& thread : threads) thread.join();
  for (const Runner& runner : runners) {
    if (runner.failed()) return runner.failure();
  }
  if (left.load() != 0) {
    std::string where = "not over in time";
    for (const Runner& runner : runners) where += "\n  " + runner.where();
    return where;
  }
  return check_end(job, program, runners);
}

class RandomThreads : public ::testing::TestWithParam<Placement> {};

TEST_P(RandomThreads, DoWhatTheModelSays) {
  const Seeds seeds = Seeds::from_environment(25);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    RandomJob random(seed, GetParam(), seed % 2 == 0, true);
    ASSERT_EQ(run_as_threads(random.job(), random.program()), "")
        << "ORIEL_SEED=" << seed << "; " << random.description();
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, RandomThreads,
                         ::testing::Values(Placement::mapped, Placement::mixed,
                                           Placement::private_memory, Placement::dynamic),
                         [](const auto& one) {
                           return one.param == Placement::mapped    ? "Mapped"
                                  : one.param == Placement::mixed   ? "Mixed"
                                  : one.param == Placement::dynamic ? "Dynamic"
                                                                    : "Private";
                         });

/// A target's words and some origins as threads.
class Contenders {
 public:
  explicit Contenders(int origins)
      : network_(origins, true),
        memory_(ControlBlock::bytes(static_cast<std::size_t>(origins)) / sizeof(Line) + 1),
        control_(*ControlBlock::create(memory_.data(), static_cast<std::uint32_t>(origins), 1)),
        ranks_(static_cast<std::size_t>(origins)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    for (int rank = 0; rank < origins; ++rank) {
      SimTransport& transport = transports_.emplace_back(network_, rank);
      sharers_.emplace_back(transport, rank, [](int sharer) { return sharer; }, ranks_);
    }
  }
  ControlBlock& control() { return control_; }
  LockLine line(int origin) { return {control_, sharers(origin)}; }
  Sharers& sharers(int origin) { return sharers_[static_cast<std::size_t>(origin)]; }

  template <typename Play>
  void run(Play play) {
    std::vector<std::thread> threads;
    for (int origin = 0; origin < static_cast<int>(transports_.size()); ++origin) {
      threads.emplace_back(play, origin);
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// Waits in line like a blocking MPI_Win_unlock.
  void acquire(int origin, bool exclusive, bool joins) {
    if (line(origin).acquire(origin, exclusive, joins)) return;
    while (control_.nodes()[origin].state.load(std::memory_order_acquire) == LockNode::waiting) {
      std::this_thread::yield();
    }
  }
  void release(int origin, bool exclusive) {
    if (line(origin).release(origin, exclusive)) return;
    std::vector<int> told;
    line(origin).hand_on(told, [](const Piggyback&) {
      ADD_FAILURE() << "nobody left a piggyback";
      return false;
    });
  }

 private:
  struct alignas(cache_line) Line {
    std::byte bytes[cache_line] = {};
  };
  SimNetwork network_;
  std::deque<SimTransport> transports_;
  std::deque<Sharers> sharers_;
  std::vector<Line> memory_;
  ControlBlock& control_;
  std::vector<int> ranks_;
};

// Plain variables under the lock: whoever writes is alone, whoever reads sees no change.
TEST(LockLineThreads, WritersExcludeEverybody) {
  constexpr int origins = 4;
  constexpr int rounds = 4000;
  Contenders contenders(origins);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::atomic<std::uint64_t> writes{0};
  contenders.run([&](int origin) {
    Random random(static_cast<std::uint64_t>(origin) + 1);
    for (int i = 0; i < rounds; ++i) {
      // Phases in which one origin is alone for long let it keep the lock.
      const bool exclusive = random.chance(60);
      contenders.acquire(origin, exclusive, !exclusive && random.chance(50));
      if (exclusive) {
        ++first;
        ++second;
        writes.fetch_add(1, std::memory_order_relaxed);
      } else if (first != second) {
        ADD_FAILURE() << "a reader saw half a write";
      }
      contenders.release(origin, exclusive);
      if (random.chance(2)) std::this_thread::yield();
    }
  });
  EXPECT_EQ(first, writes.load());
  EXPECT_EQ(second, writes.load());
  EXPECT_TRUE(contenders.line(0).try_acquire(0, true)) << "somebody still holds the lock";
}

// One origin takes the lock again and again, as its keeper; another takes it away now and then. It
// may come and go between any two steps of the keeper.
TEST(LockLineThreads, AKeeperIsDispossessed) {
  Contenders contenders(2);
  std::uint64_t count = 0;
  constexpr int often = 100'000;
  constexpr int seldom = 1000;
  contenders.run([&](int origin) {
    const int rounds = origin == 0 ? often : seldom;
    for (int i = 0; i < rounds; ++i) {
      contenders.acquire(origin, true, false);
      ++count;
      contenders.release(origin, true);
      if (origin == 1) std::this_thread::sleep_for(std::chrono::microseconds(i % 20));
    }
  });
  EXPECT_EQ(count, static_cast<std::uint64_t>(often + seldom));
}

// Updates by plain stores and by atomics, of one origin for long and of all in turn.
TEST(UpdateThreads, NoneIsLost) {
  constexpr int origins = 4;
  constexpr int rounds = 3000;
  Contenders contenders(origins);
  alignas(8) std::uint64_t word = 0;
  std::vector<std::uint64_t> run(32);
  contenders.run([&](int origin) {
    Random random(static_cast<std::uint64_t>(origin) + 1);
    for (int i = 0; i < rounds; ++i) {
      const bool long_one = random.chance(origin == 0 ? 30 : 2);
      const Update update(contenders.control(), contenders.sharers(origin), long_one);
      if (long_one) {
        ASSERT_TRUE(update.alone());
        for (std::uint64_t& element : run) ++element;
      }
      if (update.alone()) {
        ++word;
      } else {
        std::atomic_ref(word).fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
  EXPECT_EQ(word, static_cast<std::uint64_t>(origins) * rounds);
  for (const std::uint64_t element : run) EXPECT_EQ(element, run[0]);
}

}  // namespace
}  // namespace oriel::test
