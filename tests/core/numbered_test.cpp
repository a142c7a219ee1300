// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/numbered.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace oriel::test {
namespace {

TEST(Numbered, GivesTheNumberOfARemovedOneAgain) {
  Numbered<int> values;
  const int first = values.add(10);
  const int second = values.add(20);
  EXPECT_NE(first, second);
  EXPECT_EQ(values.remove(first), 10);
  EXPECT_EQ(values[second], 20);
  EXPECT_EQ(values.add(30), first);
  EXPECT_EQ(values[first], 30);
  EXPECT_EQ(values[second], 20);
}

TEST(Numbered, GoesThroughAllThatAreThere) {
  Numbered<int> values;
  const int first = values.add(10);
  values.add(20);
  values.remove(first);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), 20);
}

}  // namespace
}  // namespace oriel::test
