// SPDX-License-Identifier: BSD-3-Clause
// Stores that travel in the lines of their notifications (N5): made by the target when it takes
// them, by the origin's flush where it has not, and by nobody twice.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

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
    first.notify_arg = {NotifyKind::tag, 0, 8};
    issue(origin(), first);
    job_.run_until_idle();
    EXPECT_NE(origin().peer(1).notified, nullptr);
  }
  Window& origin() { return job_.window(0); }
  bool put(std::uint64_t value, std::int32_t tag = 1, std::int64_t displacement = 0) {
    value_ = value;
    return origin().put_notified(1, displacement, &value_, sizeof value_,
                                 {NotifyKind::tag, tag, 0});
  }
  std::uint64_t memory(std::size_t displacement = 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + displacement, sizeof value);
    return value;
  }
  bool heard(std::int32_t tag = 1) {
    job_.process(1).sweep();
    return job_.window(1).notifications().find_kept({0, tag}) != nullptr;
  }

  SimJob job_{{0, 0}};
  Listening listening_{job_.process(1).listeners()};
  std::uint64_t value_ = 5;
};

TEST_F(Inlined, TheTargetMakesItWhenItTakesTheNotification) {
  ASSERT_TRUE(put(7));
  EXPECT_NE(origin().peer(1).postponed.load(), 0);
  value_ = 8;  // the buffer may be used again
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(heard());
  EXPECT_EQ(memory(), 7u);
  // Nothing is left for a flush, which does not make it again.
  std::memset(job_.memory(1), 0, 8);
  EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
  EXPECT_EQ(origin().peer(1).postponed.load(), 0);
  EXPECT_EQ(memory(), 0u);
}

TEST_F(Inlined, AFlushDoesNotWaitForTheTarget) {
  ASSERT_TRUE(put(7, 1, 0));
  ASSERT_TRUE(put(8, 2, 8));
  // A local one asks for nothing.
  EXPECT_TRUE(origin().epochs().flush(1, true, nullptr).done);
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
  EXPECT_EQ(memory(0), 7u);
  EXPECT_EQ(memory(8), 8u);
  std::memset(job_.memory(1), 0, 16);
  ASSERT_TRUE(heard(1) && heard(2));
  EXPECT_EQ(job_.window(1).notifications().find_kept({0, 2})->bytes, 8u);
  EXPECT_EQ(memory(0) + memory(8), 0u) << "made twice";
}

TEST_F(Inlined, WhateverCompletesThemMakesThem) {
  // A flush of all, one in a lock_all epoch by either path, its end, and that of the window.
  ASSERT_TRUE(put(1));
  EXPECT_TRUE(origin().epochs().flush_all(false, nullptr).done);
  EXPECT_EQ(memory(), 1u);
  for (int i = 0; i < 1000; ++i) put(2, 3);  // the pause is over
  job_.run_until_idle();
  ASSERT_TRUE(put(2));
  EXPECT_TRUE(origin().epochs().flush_notified(nullptr).done);
  EXPECT_EQ(memory(), 2u);
  ASSERT_EQ(origin().lock_all({}), Error::none);
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  for (int i = 0; i < 1000; ++i) put(3, 3), job_.process(1).sweep();
  ASSERT_TRUE(put(4));
  EXPECT_EQ(memory(), 3u);
  EXPECT_TRUE(origin().nothing_pending(1, true));
  EXPECT_FALSE(origin().nothing_pending(1, false));
  EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
  EXPECT_TRUE(origin().nothing_pending(1, false));
  EXPECT_EQ(memory(), 4u);
  for (int i = 0; i < 1000; ++i) put(5, 3), job_.process(1).sweep();
  ASSERT_TRUE(put(6));
  EXPECT_EQ(memory(), 5u);
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
  EXPECT_EQ(memory(), 6u);
}

// Operations take place in the order of the program, whichever way they go.
TEST_F(Inlined, LaterOperationsComeAfterThem) {
  std::array<std::uint64_t, 5> many{20, 21, 22, 23, 24};
  std::uint64_t fetched = 0;
  const std::uint64_t put_value = 30;
  const std::uint64_t sum = 100;
  Operation get = on_word(OperationKind::get, nullptr, 1);
  get.result = get.origin;
  get.result.address = &fetched;
  get.origin = {};
  const auto issued = [&](const Operation& operation) { issue(origin(), operation); };
  SimWindowSpec spec;
  spec.bytes = 64;
  job_.create_window(spec);
  Window& second = job_.window(0, 1);
  Operation first = on_word(OperationKind::put, &value_, 1, 8);
  first.notify_arg = {NotifyKind::tag, 0, 8};
  issue(second, first);
  const std::array<std::function<std::uint64_t()>, 6> later{
      [&] {  // a longer one
        if (!origin().put_notified(1, 0, many.data(), 40, {NotifyKind::tag, 2, 0})) {
          Operation operation = on_word(OperationKind::put, many.data(), 1);
          operation.notify_arg = {NotifyKind::tag, 2, 8};
          issued(operation);
        }
        return std::uint64_t{20};
      },
      [&] {  // one that finds no space
        for (int i = 0; i < 2 * static_cast<int>(SimNetwork::Notifications::most); ++i) {
          if (put(50 + static_cast<std::uint64_t>(i))) continue;
          Operation operation = on_word(OperationKind::put, &value_, 1);
          operation.notify_arg = {NotifyKind::tag, 1, 8};
          issued(operation);
        }
        return 50 + 2 * std::uint64_t{SimNetwork::Notifications::most} - 1;
      },
      [&] {
        EXPECT_EQ(origin().find_address(1, 0, 8), nullptr);
        issued(on_word(OperationKind::put, &put_value, 1));
        EXPECT_NE(origin().find_address(1, 0, 8), nullptr);
        return std::uint64_t{30};
      },
      [&] {
        issued(on_word(OperationKind::accumulate, &sum, 1));
        return std::uint64_t{107};
      },
      [&] {
        issued(get);
        EXPECT_EQ(fetched, 7u);
        return std::uint64_t{7};
      },
      [&] {  // one of the program's other windows had to take its own back: a pause
        std::uint64_t other = 9;
        EXPECT_TRUE(second.put_notified(1, 0, &other, 8, {NotifyKind::tag, 1, 0}));
        EXPECT_TRUE(second.epochs().flush(1, false, nullptr).done);
        EXPECT_TRUE(!put(8) || memory() == 8);
        Operation operation = on_word(OperationKind::put, &value_, 1);
        operation.notify_arg = {NotifyKind::tag, 1, 8};
        if (memory() != 8) issued(operation);
        return std::uint64_t{8};
      },
  };
  ASSERT_EQ(origin().lock_all({}), Error::none);
  issued(on_word(OperationKind::put, &value_, 1, 512));
  for (const auto& act : later) {
    SCOPED_TRACE(&act - later.data());
    for (int i = 0; i < 1 << 12; ++i) {  // no pause is left
      put(1, 3);
      job_.run_until_idle();
    }
    ASSERT_TRUE(put(7));
    ASSERT_NE(origin().peer(1).postponed.load(), 0);
    const std::uint64_t expected = act();
    job_.run_until_idle();
    EXPECT_EQ(memory(), expected);
  }
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
}

// Nor does one overtake them that travels as a piggybacked operation with the request for a lock
// (S4).
TEST(InlinedPiggyback, ComesAfterThem) {
  SimJob job({0, 0, 0});
  SimWindowSpec spec;
  spec.bytes = 64;
  job.create_window(spec);
  const std::uint64_t values[] = {0, 1, 2};
  const auto memory = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, job.memory(1), sizeof value);
    return value;
  };
  for (const int value : {0, 1}) {
    Operation first = on_word(OperationKind::put, &values[value], 1);
    first.notify_arg = {NotifyKind::tag, 1, 8};
    if (!job.window(0).put_notified(1, 0, &values[value], 8, first.notify_arg)) {
      issue(job.window(0), first);
    }
  }
  ASSERT_NE(job.window(0).peer(1).postponed.load(), 0);
  ASSERT_EQ(job.window(2).lock(true, 1, {}), Error::none);
  issue(job.window(2), on_word(OperationKind::put, &values[0], 1, 8));
  ASSERT_EQ(job.window(0).lock(true, 1, {}), Error::none);
  issue(job.window(0), on_word(OperationKind::put, &values[2], 1));
  PostedCall unlocked;
  unlocked.take(job.window(0).unlock(1, &unlocked));
  PostedCall other;
  other.take(job.window(2).unlock(1, &other));
  job.run_until_idle();
  EXPECT_TRUE(unlocked.done() && other.done());
  EXPECT_EQ(memory(), 2u);
  const Listening listening(job.process(1).listeners());
  job.process(1).sweep();
  EXPECT_EQ(memory(), 2u);
}

// Third ranks rely on the ends of fence and start epochs, and a lock is given back at once.
TEST_F(Inlined, NotInEpochsThatEndSoon) {
  ASSERT_EQ(origin().lock(false, 1, {}), Error::none);
  ASSERT_TRUE(put(7));
  EXPECT_EQ(memory(), 7u);
  EXPECT_TRUE(origin().unlock(1, nullptr).done);
  const std::array<int, 1> to = {1};
  const std::array<int, 1> from = {0};
  ASSERT_EQ(job_.window(1).epochs().post(from, {}), Error::none);
  ASSERT_EQ(origin().epochs().start(to, {}), Error::none);
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  ASSERT_TRUE(put(8));
  EXPECT_EQ(memory(), 8u);
}

// Nor what does not fit into a line, nor one of nothing.
TEST_F(Inlined, OnlyWhatFitsIntoALine) {
  std::array<std::uint64_t, 5> values{1, 2, 3, 4, 5};
  for (const std::uint64_t bytes : {40u, 32u}) {
    ASSERT_TRUE(origin().put_notified(1, 0, values.data(), bytes, {NotifyKind::tag, 1, 0}));
    EXPECT_EQ(memory(), bytes == 40 ? 1u : 0u);
    EXPECT_TRUE(heard());
    EXPECT_EQ(memory(24), 4u);
    std::memset(job_.memory(1), 0, 40);
  }
  ASSERT_TRUE(origin().put_notified(1, 0, values.data(), 0, {NotifyKind::tag, 2, 0}));
  EXPECT_NE(origin().peer(1).postponed.load(), 0);  // the one before
  ASSERT_TRUE(heard(2));
  EXPECT_EQ(job_.window(1).notifications().find_kept({0, 2})->bytes, 0u);
}

// Who flushes before the target looks pays for a few, and then no more.
TEST_F(Inlined, NotForAWhileAfterTheyWereTakenBack) {
  int inlined = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(put(static_cast<std::uint64_t>(i) + 1));
    inlined += memory() == static_cast<std::uint64_t>(i) + 1 ? 0 : 1;
    EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
    ASSERT_EQ(memory(), static_cast<std::uint64_t>(i) + 1);
    job_.process(1).sweep();
  }
  EXPECT_GE(inlined, 2);
  EXPECT_LE(inlined, 5);
}

/// Rank 1's memory is private: a store into it takes a system call.
class InlinedPrivate : public ::testing::Test {
 protected:
  InlinedPrivate() {
    SimWindowSpec spec;
    spec.bytes = 128;
    spec.memory = {Path::system_call, Path::system_call};
    job_.create_window(spec);
  }
  Window& origin() { return job_.window(0); }
  static Operation notified(Operation operation) {
    operation.notify_arg = {NotifyKind::tag, 2, operation.bytes()};
    return operation;
  }
  void put(const std::uint64_t& value) {
    issue(origin(), notified(on_word(OperationKind::put, &value, 1, 8)));
  }
  std::uint64_t memory(std::size_t displacement = 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + displacement, sizeof value);
    return value;
  }
  std::uint64_t copies() { return job_.transport(0).copies(); }

  SimJob job_{{0, 0}};
  Listening listening_{job_.process(1).listeners()};
};

// None where the target makes it, one for a flush.
TEST_F(InlinedPrivate, CostsNoSystemCall) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  put(1);
  EXPECT_EQ(memory(), 0u);
  job_.process(1).sweep();
  EXPECT_EQ(memory(), 1u);
  EXPECT_NE(job_.window(1).notifications().find_kept({0, 2}), nullptr);
  EXPECT_EQ(copies(), 0u);
  put(2);
  EXPECT_EQ(memory(), 1u);
  EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
  EXPECT_EQ(memory(), 2u);
  EXPECT_EQ(copies(), 1u);
  put(3);  // not inlined for a while
  EXPECT_EQ(memory(), 3u);
  put(4);
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
  EXPECT_EQ(memory(), 4u);
}

// Only one run of bytes at both sides, and not in an epoch that ends soon.
TEST_F(InlinedPrivate, OnlyOneRun) {
  const LayoutRef two(new Layout({{0, 8}, {16, 8}}, 24, Basic::u64));
  const std::array<std::uint64_t, 3> values{1, 2, 3};
  for (const bool at_target : {false, true}) {
    Operation operation = on_word(OperationKind::put, values.data(), 1, 32);
    const LayoutRef row(new Layout({{0, 16}}, 16, Basic::u64));
    operation.target_layout = at_target ? two : row;
    operation.origin.layout = at_target ? row : two;
    issue(origin(), notified(operation));
    EXPECT_EQ(memory(32), 1u);
    EXPECT_EQ(memory(at_target ? 48 : 40), at_target ? 2u : 3u);
    std::memset(job_.memory(1) + 32, 0, 24);
  }
  ASSERT_EQ(origin().lock(false, 1, {}), Error::none);
  put(5);
  EXPECT_EQ(memory(), 5u);
  EXPECT_TRUE(origin().unlock(1, nullptr).done);
}

// Not before notifications that are held back: they go in the order of their operations.
TEST_F(InlinedPrivate, BehindThoseThatAreHeld) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  constexpr int many = 400;  // longer than the pause after the first that found no space
  std::array<std::uint64_t, many> values{};
  for (int i = 0; i < many; ++i) {
    const auto number = static_cast<std::size_t>(i);
    values[number] = number + 1;
    Operation operation = on_word(OperationKind::put, &values[number], 1, 8);
    operation.notify_arg = {NotifyKind::tag, i, 8};
    issue(origin(), operation);
    if (i == many - 50) job_.process(1).sweep();  // there is space, but others go first
  }
  job_.run_until_idle();
  EXPECT_EQ(memory(), std::uint64_t{many});
  for (int i = 0; i < many; ++i) {
    NotifyRequest next(NotifyPattern{0, NotifyPattern::any}, 1);
    job_.window(1).notifications().start(next);
    ASSERT_TRUE(next.complete());
    EXPECT_EQ(next.last().tag, i);
  }
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
}

// B2: whatever has to make them names the rank that has ended.
TEST_F(InlinedPrivate, AnEndedTargetIsNamed) {
  const auto fails = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.error, Error::peer_lost);
    EXPECT_EQ(origin().peer(1).postponed.load(), 0);
  };
  std::uint64_t value = 1;
  Operation plain = on_word(OperationKind::put, &value, 1, 16);
  const auto inlined = [&] {
    for (int i = 0; i < 1 << 12; ++i) {  // no pause is left
      put(1);
      job_.run_until_idle();
    }
    put(2);
    EXPECT_NE(origin().peer(1).postponed.load(), 0);
    job_.transport(0).set_ended(1);
  };
  inlined();
  fails(origin().epochs().flush(1, false, nullptr));
  job_.transport(0).set_ended(-1);
  ASSERT_EQ(origin().lock_all({}), Error::none);
  inlined();
  fails(origin().epochs().issue(plain));
  EXPECT_NE(std::string(origin().reason()).find("rank 1 of the window has ended"),
            std::string::npos);
  job_.transport(0).set_ended(-1);
  inlined();
  fails(origin().epochs().flush_all(false, nullptr));
  job_.transport(0).set_ended(-1);
  inlined();
  fails(origin().unlock_all(nullptr));
}

// Nor does who has other operations behind them, although the target has taken them by then.
TEST_F(Inlined, NotForAWhileAfterOthersHadToLook) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  ASSERT_TRUE(put(7));
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(heard());
  issue(origin(), on_word(OperationKind::put, &value_, 1, 512));
  ASSERT_TRUE(put(8));
  EXPECT_EQ(memory(), 8u);
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
}

// Those of another window stay with the target.
TEST_F(Inlined, AFlushTakesItsOwnWindowsBack) {
  SimWindowSpec spec;
  spec.bytes = 64;
  job_.create_window(spec);
  Window& other = job_.window(0, 1);
  Operation first = on_word(OperationKind::put, &value_, 1, 8);
  first.notify_arg = {NotifyKind::tag, 0, 8};
  issue(other, first);
  job_.run_until_idle();
  ASSERT_TRUE(put(7));
  value_ = 9;
  ASSERT_TRUE(other.put_notified(1, 0, &value_, 8, {NotifyKind::tag, 1, 0}));
  EXPECT_TRUE(other.epochs().flush(1, false, nullptr).done);
  std::uint64_t there = 0;
  std::memcpy(&there, job_.memory(1, 1), 8);
  EXPECT_EQ(there, 9u);
  EXPECT_EQ(memory(), 0u);
  EXPECT_TRUE(origin().epochs().flush(1, false, nullptr).done);
  EXPECT_EQ(memory(), 7u);
}

// A rank that makes a window has no memory for it yet; one that has freed it, no more.
TEST_F(Inlined, AWindowThatIsBeingMadeOrIsGone) {
  constexpr std::uint32_t number = 3;  // of rank 1's second window, as SimJob gives them
  const auto send = [&](std::uint32_t window, std::uint64_t value) {
    NotifyStore store{nullptr, &value, 8, true, false, 16};
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
  EXPECT_NE(job_.window(1, 1).notifications().find_kept({0, 4}), nullptr);
  // Beyond the window's end: of no use, and no harm.
  std::uint64_t value = 3;
  NotifyStore store{nullptr, &value, 8, true, false, 60};
  ASSERT_EQ(job_.transport(0).notify(1, {number, {0, 5, 8}}, store), NotifyOutcome::inlined);
  job_.process(1).sweep();
  EXPECT_NE(job_.window(1, 1).notifications().find_kept({0, 5}), nullptr);
}

/// Puts into memory of rank 1 that is private in another way.
class InlinedElsewhere : public ::testing::Test {
 protected:
  /// `spec`: what differs from a window of 128 private bytes.
  void make(SimWindowSpec spec) {
    spec.bytes = 128;
    spec.memory = {Path::system_call, Path::system_call};
    job_.create_window(spec);
    ASSERT_EQ(origin().lock_all({}), Error::none);
  }
  Window& origin() { return job_.window(0); }
  void put(const std::uint64_t& value, std::int64_t displacement, std::int32_t tag = 2) {
    Operation operation = on_word(OperationKind::put, &value, 1, displacement);
    operation.notify_arg = {NotifyKind::tag, tag, sizeof value};
    issue(origin(), operation);
  }
  bool holds(std::int64_t place, const std::uint64_t& value) {
    return std::memcmp(job_.memory(1) + place, &value, sizeof value) == 0;
  }

  SimJob job_{{0, 0}};
  Listening listening_{job_.process(1).listeners()};
};

// Its displacements are addresses, which the target could not tell from offsets.
TEST_F(InlinedElsewhere, NotIntoAPieceOfADynamicWindow) {
  SimWindowSpec spec;
  spec.pieces = 1;
  make(spec);
  put(7, job_.displacement(1, 0, 8));
  job_.process(1).sweep();
  EXPECT_NE(job_.window(1).notifications().find_kept({0, 2}), nullptr);
  EXPECT_TRUE(holds(8, 7));
}

}  // namespace
}  // namespace oriel::test
