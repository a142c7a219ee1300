// SPDX-License-Identifier: BSD-3-Clause
// B2: since when a process has made no call.
#include <gtest/gtest.h>

#include "transport/shm/process_block.hpp"

namespace oriel::test {
namespace {

TEST(CallCounts, KnowsSinceWhenThereWasNoCallIfTheLastOneHadWaitedLong) {
  CallCounts calls;
  EXPECT_EQ(calls.quiet_since(), 0U);
  calls.count();
  EXPECT_EQ(calls.quiet_since(), 0U);
  calls.end_wait(70);
  EXPECT_EQ(calls.quiet_since(), 70U);
  calls.add_hot(8192);  // these take no part
  EXPECT_EQ(calls.quiet_since(), 70U);
  calls.count();
  EXPECT_EQ(calls.quiet_since(), 0U);
  EXPECT_EQ(calls.locked(), 2U);
}

}  // namespace
}  // namespace oriel::test
