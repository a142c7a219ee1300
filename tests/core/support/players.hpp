// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

// Ranks whose programs go on by chance, each on its own, until all have ended. `Players` has
// Players(nodes, random, threads), job(), over(), over(rank), and act(rank, random): one step of a
// rank's program, and whether there was one to take.

/// In one thread: steps, sweeps and arrivals in an order that the seed says.
template <typename Players>
void play_in_turns(Players& players, Random& random) {
  SimJob& job = players.job();
  for (int steps = 0; !players.over(); ++steps) {
    ASSERT_LT(steps, 1'000'000) << "it does not end";
    const std::vector<SimNetwork::Route> routes = job.network().under_way();
    if (!routes.empty() && random.chance(50)) {
      job.network().deliver(random.pick(routes));
      continue;
    }
    const int rank = random.below(job.ranks());
    players.act(rank, random);
    if (random.chance(70)) job.process(rank).sweep();
  }
  for (int rank = 0; rank < job.ranks(); ++rank) EXPECT_EQ(job.process(rank).refused(), 0u);
}

template <typename Players>
void play_as_threads(Players& players, std::uint64_t seed) {
  SimJob& job = players.job();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> running{job.ranks()};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      Random own(seed * 100 + static_cast<std::uint64_t>(rank));
      bool counted = false;
      while (running.load() != 0 && std::chrono::steady_clock::now() < deadline) {
        const bool acted = players.act(rank, own);
        if (!job.process(rank).sweep() && !acted) std::this_thread::yield();
        if (players.over(rank) && !std::exchange(counted, true)) --running;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(running, 0) << "it does not end";
}

/// So many seeds, unless others are asked for, up to the first that fails.
template <typename Players>
void play_seeds(const std::vector<int>& nodes, std::uint64_t usual, bool threads) {
  const Seeds seeds = Seeds::from_environment(usual);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("ORIEL_SEED=" + std::to_string(seed));
    Random random(seed);
    Players players(nodes, random, threads);
    if (threads) {
      play_as_threads(players, seed);
    } else {
      play_in_turns(players, random);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace oriel::test
