// SPDX-License-Identifier: BSD-3-Clause
// The objects behind handles, as one thread changes it with the lock and others look
// without (G8).
#include "engine/process/handle_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace oriel {
namespace {

using test::Random;

TEST(HandleTable, FindsWhatAHandleMeansNow) {
  HandleTable<int> table;
  int one = 1;
  int two = 2;
  EXPECT_EQ(table.find(7), nullptr);
  table.insert(7, &one);
  EXPECT_EQ(table.find(7), &one);
  table.erase(7, &two);
  EXPECT_EQ(table.find(7), &one) << "the handle means another object already";
  table.erase(7, &one);
  EXPECT_EQ(table.find(7), nullptr);
  table.insert(7, &two);
  EXPECT_EQ(table.find(7), &two);
  table.clear();
  EXPECT_EQ(table.find(7), nullptr);
}

TEST(HandleTable, HasNothingForHotPathsWhileTheseAreClosed) {
  HandleTable<int> table;
  int one = 1;
  table.insert(7, &one);
  EXPECT_EQ(table.find_if_open(7), &one);
  EXPECT_EQ(table.find_if_open(8), nullptr);
  table.open_hot_paths(false);
  EXPECT_EQ(table.find_if_open(7), nullptr);
  EXPECT_EQ(table.find(7), &one);
  EXPECT_EQ(table.find_if_open(7), nullptr) << "the thread has found it by now";
  table.open_hot_paths(true);
  EXPECT_EQ(table.find_if_open(7), &one);
}

// Handles that lie close together, and that fall into one place, in any order.
TEST(HandleTable, IsWhatAListSays) {
  HandleTable<int> table;
  std::array<int, 64> objects{};
  std::vector<std::pair<std::uint64_t, int*>> list;
  Random random(3);
  for (int round = 0; round < 20'000; ++round) {
    const auto key = static_cast<std::uint64_t>(random.below(200)) << (random.below(2) * 33);
    const auto held = std::ranges::find(list, key, [](const auto& one) { return one.first; });
    ASSERT_EQ(table.find(key), held != list.end() ? held->second : nullptr) << round;
    if (held != list.end() && random.chance(60)) {
      table.erase(key, held->second);
      list.erase(held);
    } else if (held == list.end() && list.size() < 100) {
      list.emplace_back(key, &objects[static_cast<std::size_t>(random.below(64))]);
      table.insert(key, list.back().second);
    }
  }
}

TEST(HandleTable, IsLookedAtWhileItChanges) {
  constexpr std::uint64_t kept = 16;      // these stay
  constexpr std::uint64_t changing = 64;  // these come and go, and the table grows
  constexpr int rounds = 5000;
  HandleTable<std::uint64_t> table;
  std::array<std::uint64_t, kept + changing> objects{};
  for (std::uint64_t key = 0; key < objects.size(); ++key) objects[key] = key;
  for (std::uint64_t key = 0; key < kept; ++key) table.insert(key, &objects[key]);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> found{0};
  const auto look = [&](std::uint64_t seed) {
    Random random(seed);
    while (!over.load()) {
      const auto key = static_cast<std::uint64_t>(random.below(kept + changing));
      const std::uint64_t* object = table.find(key);
      if (object == nullptr) continue;  // it is not there, or the table is being changed
      EXPECT_EQ(*object, key);
      if (key < kept) found.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::thread first(look, 1);
  std::thread second(look, 2);
  Random random(4);
  std::array<bool, changing> held{};
  for (int round = 0; round < rounds || found.load() < 1000; ++round) {
    const auto i = static_cast<std::size_t>(random.below(changing));
    const std::uint64_t key = kept + i;
    held[i] ? table.erase(key, &objects[key]) : table.insert(key, &objects[key]);
    held[i] = !held[i];
    if (round % 64 == 0) std::this_thread::yield();
  }
  over = true;
  first.join();
  second.join();
  for (std::uint64_t key = 0; key < kept; ++key) EXPECT_EQ(table.find(key), &objects[key]);
}

}  // namespace
}  // namespace oriel
