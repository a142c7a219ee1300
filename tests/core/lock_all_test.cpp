// SPDX-License-Identifier: BSD-3-Clause
// lock_all epochs take the locks of their targets one by one, among others that hold single ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// Ranks on one node, or each on a node of its own.
class LockAll : public ::testing::TestWithParam<bool> {
 protected:
  LockAll() {
    SimWindowSpec spec;
    spec.bytes = sizeof(std::uint64_t);
    job_.create_window(spec);
  }
  static bool remote() { return GetParam(); }
  Window& rank(int index) { return job_.window(index); }
  void put(int origin, int target) {
    issue(rank(origin), on_word(OperationKind::put, &value_, target));
  }
  std::uint64_t word(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner), sizeof value);
    return value;
  }

  SimJob job_{remote() ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 0, 0, 0}};
  std::uint64_t value_ = 7;
};

INSTANTIATE_TEST_SUITE_P(Nodes, LockAll, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Remote" : "Mapped"; });

// Two epochs have a lock each that the other one wants, and an exclusive request waits for each of
// the two. Whoever waited behind those would wait for ever.
TEST_P(LockAll, TwoOfThemPassTheExclusiveRequestsBetweenThem) {
  std::array<Told, 4> told;
  for (const int reader : {0, 1}) {
    ASSERT_EQ(rank(reader).lock_all({}), Error::none);
    put(reader, 2 + reader);
    Told flushed;
    flushed.take(rank(reader).flush(2 + reader, false, &flushed));
    job_.settle();
    ASSERT_TRUE(flushed.done());
  }
  for (const int writer : {2, 3}) {
    ASSERT_EQ(rank(writer).lock(true, writer, {}), Error::none);
    put(writer, writer);
    told[static_cast<std::size_t>(writer)].take(
        rank(writer).unlock(writer, &told[static_cast<std::size_t>(writer)]));
  }
  job_.settle();
  for (const int reader : {0, 1}) {
    put(reader, 3 - reader);
    Told flushed;
    flushed.take(rank(reader).flush(3 - reader, false, &flushed));
    job_.settle();
    EXPECT_TRUE(flushed.done());
  }
  EXPECT_FALSE(told[2].done() || told[3].done());
  for (const int reader : {0, 1}) {
    Told& one = told[static_cast<std::size_t>(reader)];
    one.take(rank(reader).unlock_all(&one));
  }
  job_.settle();
  for (const Told& one : told) EXPECT_TRUE(one.done());
}

// A request that came while the lock was held exclusively joins those that get it then, whoever is
// in line between them.
TEST_P(LockAll, JoinsReadersThatAreGrantedLater) {
  std::array<Told, 4> told;
  const auto flushed = [&](int index) {
    told[static_cast<std::size_t>(index)].take(
        rank(index).flush(0, false, &told[static_cast<std::size_t>(index)]));
  };
  ASSERT_EQ(rank(0).lock(true, 0, {}), Error::none);
  ASSERT_EQ(rank(1).lock(false, 0, {}), Error::none);
  put(1, 0);
  flushed(1);
  job_.settle();
  ASSERT_EQ(rank(2).lock(true, 0, {}), Error::none);
  put(2, 0);
  flushed(2);
  job_.settle();
  ASSERT_EQ(rank(3).lock_all({}), Error::none);
  put(3, 0);
  flushed(3);
  job_.settle();
  EXPECT_FALSE(told[1].done() || told[2].done() || told[3].done());
  EXPECT_TRUE(rank(0).unlock(0, nullptr).done);
  job_.settle();
  EXPECT_TRUE(told[1].done() && told[3].done());
  EXPECT_FALSE(told[2].done()) << "the exclusive one excludes both";
  Told over;
  over.take(rank(3).unlock_all(&over));
  over = {};
  over.take(rank(1).unlock(0, &over));
  job_.settle();
  EXPECT_TRUE(told[2].done());
  EXPECT_EQ(word(0), 7u);
  over = {};
  over.take(rank(2).unlock(0, &over));
  job_.settle();
  EXPECT_TRUE(rank(1).lock(true, 0, {}) == Error::none);
}

}  // namespace
}  // namespace oriel::test
