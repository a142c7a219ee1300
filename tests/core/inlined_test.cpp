// SPDX-License-Identifier: BSD-3-Clause
// Stores that travel in the lines of their notifications (N5): made by the target when it takes
// them, by the origin's flush where it has not, and by nobody twice.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

class Inlined : public ::testing::Test {
 protected:
  Inlined() {
    SimWindowSpec spec;
    spec.bytes = 1024;
    job_.create_window(spec);
    // The notified epoch's hot path begins with the second access to a target.
    Operation first = on_word(OperationKind::put, &value_, 1, 512);
    first.notice = {NoticeKind::tag, 0, 8};
    issue(origin(), first);
    job_.settle();
    EXPECT_NE(origin().peer(1).notified, nullptr);
  }
  Window& origin() { return job_.window(0); }
  bool put(std::uint64_t value, std::int32_t tag = 1, std::int64_t displacement = 0) {
    value_ = value;
    return origin().put_notified(1, displacement, &value_, sizeof value_,
                                 {NoticeKind::tag, tag, 0});
  }
  std::uint64_t memory(std::size_t displacement = 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + displacement, sizeof value);
    return value;
  }
  bool heard(std::int32_t tag = 1) {
    job_.process(1).sweep();
    return job_.window(1).notifications().find({0, tag}) != nullptr;
  }

  SimJob job_{{0, 0}};
  Listening listening_{job_.process(1).listeners()};
  std::uint64_t value_ = 5;
};

TEST_F(Inlined, TheTargetMakesItWhenItTakesTheNotification) {
  ASSERT_TRUE(put(7));
  EXPECT_TRUE(origin().peer(1).inlined);
  value_ = 8;  // the buffer may be used again
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(heard());
  EXPECT_EQ(memory(), 7u);
  // Nothing is left for a flush, which does not make it again.
  std::memset(job_.memory(1), 0, 8);
  EXPECT_TRUE(origin().flush(1, false, nullptr).done);
  EXPECT_FALSE(origin().peer(1).inlined);
  EXPECT_EQ(memory(), 0u);
}

TEST_F(Inlined, AFlushDoesNotWaitForTheTarget) {
  ASSERT_TRUE(put(7, 1, 0));
  ASSERT_TRUE(put(8, 2, 8));
  // A local one asks for nothing.
  EXPECT_TRUE(origin().flush(1, true, nullptr).done);
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(origin().flush(1, false, nullptr).done);
  EXPECT_EQ(memory(0), 7u);
  EXPECT_EQ(memory(8), 8u);
  std::memset(job_.memory(1), 0, 16);
  ASSERT_TRUE(heard(1) && heard(2));
  EXPECT_EQ(job_.window(1).notifications().find({0, 2})->bytes, 8u);
  EXPECT_EQ(memory(0) + memory(8), 0u) << "made twice";
}

TEST_F(Inlined, WhateverCompletesThemMakesThem) {
  // A flush of all, one in a lock_all epoch by either path, its end, and that of the window.
  ASSERT_TRUE(put(1));
  EXPECT_TRUE(origin().flush_all(false, nullptr).done);
  EXPECT_EQ(memory(), 1u);
  for (int i = 0; i < 1000; ++i) put(2, 3);  // the pause is over
  job_.settle();
  ASSERT_TRUE(put(2));
  EXPECT_TRUE(origin().flush_notified(nullptr).done);
  EXPECT_EQ(memory(), 2u);
  ASSERT_EQ(origin().lock_all({}), Error::none);
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  for (int i = 0; i < 1000; ++i) put(3, 3), job_.process(1).sweep();
  ASSERT_TRUE(put(4));
  EXPECT_EQ(memory(), 3u);
  EXPECT_FALSE(origin().flushed(1));
  EXPECT_TRUE(origin().flush(1, false, nullptr).done);
  EXPECT_TRUE(origin().flushed(1));
  EXPECT_EQ(memory(), 4u);
  for (int i = 0; i < 1000; ++i) put(5, 3), job_.process(1).sweep();
  ASSERT_TRUE(put(6));
  EXPECT_EQ(memory(), 5u);
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
  EXPECT_EQ(memory(), 6u);
}

// Third ranks rely on the ends of fence and start epochs, and a lock is given back at once.
TEST_F(Inlined, NotInEpochsThatEndSoon) {
  ASSERT_EQ(origin().lock(false, 1, {}), Error::none);
  ASSERT_TRUE(put(7));
  EXPECT_EQ(memory(), 7u);
  EXPECT_TRUE(origin().unlock(1, nullptr).done);
  const std::array<int, 1> to = {1};
  const std::array<int, 1> from = {0};
  ASSERT_EQ(job_.window(1).post(from, {}), Error::none);
  ASSERT_EQ(origin().start(to, {}), Error::none);
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  ASSERT_TRUE(put(8));
  EXPECT_EQ(memory(), 8u);
}

// Nor what does not fit into a line, nor one of nothing.
TEST_F(Inlined, OnlyWhatFitsIntoALine) {
  std::array<std::uint64_t, 5> values{1, 2, 3, 4, 5};
  for (const std::uint64_t bytes : {40u, 32u}) {
    ASSERT_TRUE(origin().put_notified(1, 0, values.data(), bytes, {NoticeKind::tag, 1, 0}));
    EXPECT_EQ(memory(), bytes == 40 ? 1u : 0u);
    EXPECT_TRUE(heard());
    EXPECT_EQ(memory(24), 4u);
    std::memset(job_.memory(1), 0, 40);
  }
  ASSERT_TRUE(origin().put_notified(1, 0, values.data(), 0, {NoticeKind::tag, 2, 0}));
  EXPECT_TRUE(origin().peer(1).inlined);  // the one before
  ASSERT_TRUE(heard(2));
  EXPECT_EQ(job_.window(1).notifications().find({0, 2})->bytes, 0u);
}

// Who flushes before the target looks pays for a few, and then no more.
TEST_F(Inlined, NotForAWhileAfterTheyWereTakenBack) {
  int inlined = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(put(static_cast<std::uint64_t>(i) + 1));
    inlined += memory() == static_cast<std::uint64_t>(i) + 1 ? 0 : 1;
    EXPECT_TRUE(origin().flush(1, false, nullptr).done);
    ASSERT_EQ(memory(), static_cast<std::uint64_t>(i) + 1);
    job_.process(1).sweep();
  }
  EXPECT_GE(inlined, 2);
  EXPECT_LE(inlined, 5);
}

// A store into private memory takes a system call: none where the target makes it, one for a flush.
TEST(InlinedPrivate, CostsNoSystemCall) {
  SimJob job({0, 0});
  const Listening listening(job.process(1).listeners());
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.memory = {Path::vm, Path::vm};
  job.create_window(spec);
  Window& origin = job.window(0);
  ASSERT_EQ(origin.lock_all({}), Error::none);
  const auto put = [&](const std::uint64_t& value) {
    Operation operation = on_word(OperationKind::put, &value, 1, 8);
    operation.notice = {NoticeKind::tag, 2, 8};
    issue(origin, operation);
  };
  const auto memory = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, job.memory(1) + 8, sizeof value);
    return value;
  };
  put(1);
  EXPECT_EQ(memory(), 0u);
  job.process(1).sweep();
  EXPECT_EQ(memory(), 1u);
  EXPECT_NE(job.window(1).notifications().find({0, 2}), nullptr);
  EXPECT_EQ(job.transport(0).copies(), 0u);
  put(2);
  EXPECT_EQ(memory(), 1u);
  EXPECT_TRUE(origin.flush(1, false, nullptr).done);
  EXPECT_EQ(memory(), 2u);
  EXPECT_EQ(job.transport(0).copies(), 1u);
  put(3);  // not inlined for a while
  EXPECT_EQ(memory(), 3u);
  put(4);
  EXPECT_TRUE(origin.unlock_all(nullptr).done);
  EXPECT_EQ(memory(), 4u);
}

// Those of another window stay with the target.
TEST_F(Inlined, AFlushTakesItsOwnWindowsBack) {
  SimWindowSpec spec;
  spec.bytes = 64;
  job_.create_window(spec);
  Window& other = job_.window(0, 1);
  Operation first = on_word(OperationKind::put, &value_, 1, 8);
  first.notice = {NoticeKind::tag, 0, 8};
  issue(other, first);
  job_.settle();
  ASSERT_TRUE(put(7));
  value_ = 9;
  ASSERT_TRUE(other.put_notified(1, 0, &value_, 8, {NoticeKind::tag, 1, 0}));
  EXPECT_TRUE(other.flush(1, false, nullptr).done);
  std::uint64_t there = 0;
  std::memcpy(&there, job_.memory(1, 1), 8);
  EXPECT_EQ(there, 9u);
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(origin().flush(1, false, nullptr).done);
  EXPECT_EQ(memory(), 7u);
}

// A rank that makes a window has no memory for it yet; one that has freed it, no more.
TEST_F(Inlined, AWindowThatIsBeingMadeOrIsGone) {
  constexpr std::uint32_t number = 3;  // of rank 1's second window, as SimJob gives them
  const auto send = [&](std::uint32_t window, std::uint64_t value) {
    NotifyStore store{nullptr, &value, 8, true, 16};
    ASSERT_EQ(job_.transport(0).notify(1, {window, {0, 4, 8}}, store), NotifyOutcome::inlined);
    job_.process(1).sweep();
  };
  send(number, 1);  // nobody makes it
  job_.process(1).expect_window(number);
  send(number, 2);
  SimWindowSpec spec;
  spec.bytes = 64;
  job_.create_window(spec);
  job_.create_window(spec);
  ASSERT_EQ(job_.window(1, 1).id(), number);
  job_.process(1).sweep();
  std::uint64_t there = 0;
  std::memcpy(&there, job_.memory(1, 1) + 16, 8);
  EXPECT_EQ(there, 2u);
  EXPECT_NE(job_.window(1, 1).notifications().find({0, 4}), nullptr);
  // Beyond the window's end: of no use, and no harm.
  std::uint64_t value = 3;
  NotifyStore store{nullptr, &value, 8, true, 60};
  ASSERT_EQ(job_.transport(0).notify(1, {number, {0, 5, 8}}, store), NotifyOutcome::inlined);
  job_.process(1).sweep();
  EXPECT_NE(job_.window(1, 1).notifications().find({0, 5}), nullptr);
}

}  // namespace
}  // namespace oriel::test
