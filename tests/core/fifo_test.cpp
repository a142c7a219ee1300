// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/fifo.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace oriel::test {
namespace {

/// Counts its default constructions. A Fifo makes objects only when it grows.
struct Counted {
  static inline int made = 0;
  int value = 0;
  Counted() { ++made; }
  explicit Counted(int of) : value(of) {}
};

TEST(Fifo, GivesObjectsInTheirOrder) {
  std::minstd_rand random(1);
  Fifo<int> queue;
  std::deque<int> expected;
  for (int i = 0; i < 10'000; ++i) {
    if (random() % 100 < (i / 1000 % 2 == 0 ? 60U : 40U)) {  // longer, then shorter
      queue.push(i);
      expected.push_back(i);
    } else {
      int first = -1;
      ASSERT_EQ(queue.pop(first), !expected.empty());
      if (expected.empty()) continue;
      ASSERT_EQ(first, expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(Fifo, KeepsTheMemoryOfItsGreatestLength) {
  Fifo<Counted> queue;
  const auto pass_through = [&](int objects) {
    for (int i = 0; i < objects; ++i) queue.push(Counted(i));
    Counted first(0);
    for (int i = 0; i < objects; ++i) {
      ASSERT_TRUE(queue.pop(first));
      ASSERT_EQ(first.value, i);
    }
  };
  pass_through(100);
  const int made = Counted::made;
  EXPECT_GE(made, 100);
  for (int round = 0; round < 50; ++round) pass_through(100);
  EXPECT_EQ(Counted::made, made);
}

}  // namespace
}  // namespace oriel::test
