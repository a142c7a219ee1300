// SPDX-License-Identifier: BSD-3-Clause
// Exchange between simulated ranks: each round all words, of that round, whoever is ahead.
#include "core/remote/exchange.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Ranks go through rounds, each at its own pace.
class Rounds {
 public:
  static constexpr std::uint64_t most = 40;

  Rounds(const std::vector<int>& nodes, bool threads) : job_(nodes, threads) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
    round_.resize(nodes.size());
  }

  bool over() const {
    for (const std::uint64_t round : round_) {
      if (round != most + 1) return false;
    }
    return true;
  }
  SimJob& job() { return job_; }

  void act(int rank) {
    std::uint64_t& round = round_[static_cast<std::size_t>(rank)];
    Exchange& exchange = job_.window(rank).exchange();
    if (round == most + 1 || (round != 0 && !exchange.over())) return;
    for (int other = 0; round != 0 && other < job_.ranks(); ++other) {
      EXPECT_EQ(exchange.of(other), words(other, round));
    }
    if (++round <= most) job_.window(rank).begin_exchange(words(rank, round));
  }

 private:
  static Exchange::Words words(int rank, std::uint64_t round) {
    const auto number = static_cast<std::uint64_t>(rank);
    return {round, number, round * number, ~round};
  }

  SimJob job_;
  std::vector<std::uint64_t> round_;  // by rank: the one it is in
};

class ExchangeOn : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(ExchangeOn, AllHearAllOfEachRound) {
  const Seeds seeds = Seeds::from_environment(30);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rounds rounds(GetParam(), false);
    Random random(seed);
    for (int steps = 0; !rounds.over(); ++steps) {
      ASSERT_LT(steps, 1'000'000) << "it does not end";
      const std::vector<SimNetwork::Route> routes = rounds.job().network().under_way();
      if (!routes.empty() && random.chance(50)) {
        rounds.job().network().deliver(random.pick(routes));
        continue;
      }
      const int rank = random.below(rounds.job().ranks());
      rounds.act(rank);
      rounds.job().process(rank).sweep();
    }
    if (HasFailure()) return;
  }
}

TEST_P(ExchangeOn, AlsoAsThreads) {
  Rounds rounds(GetParam(), true);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> running{rounds.job().ranks()};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < rounds.job().ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      for (std::uint64_t done = 0; done <= Rounds::most;) {
        if (std::chrono::steady_clock::now() > deadline) return;
        rounds.job().process(rank).sweep();
        const bool moves = done == 0 || rounds.job().window(rank).exchange().over();
        if (moves) {
          rounds.act(rank);
          ++done;
        } else {
          std::this_thread::yield();
        }
      }
      // The others' messages come by our sweeps no more; they need none.
      --running;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(running, 0) << "it does not end";
  EXPECT_TRUE(rounds.over());
}

INSTANTIATE_TEST_SUITE_P(Placements, ExchangeOn,
                         ::testing::Values(std::vector<int>{0}, std::vector<int>{0, 0, 0},
                                           std::vector<int>{0, 1, 2}, std::vector<int>{0, 0, 1, 1}),
                         [](const auto& node_map) {
                           std::string name = "On";
                           for (const int node : node_map.param) name += std::to_string(node);
                           return name;
                         });

// What no peer can mean.
TEST(Exchange, RefusesRoundsThatCannotBe) {
  SimJob job({0, 1});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  const Exchange::Words words{1, 2, 3, 4};
  Message message;
  message.kind = MessageKind::exchange;
  message.origin = 1;
  message.data = sizeof words;
  const auto bytes = std::as_bytes(std::span(words));
  for (const std::uint64_t round : {0, 2, 3}) {
    message.stamp = round;
    EXPECT_FALSE(job.window(0).deliver(message, bytes));
  }
  message.stamp = 1;
  EXPECT_FALSE(job.window(0).deliver(message, bytes.first(8)));
  EXPECT_TRUE(job.window(0).deliver(message, bytes));
  EXPECT_FALSE(job.window(0).deliver(message, bytes));  // twice
  message.stamp = 2;
  EXPECT_FALSE(job.window(0).deliver(message, bytes));  // we are in none yet
}

}  // namespace
}  // namespace oriel::test
