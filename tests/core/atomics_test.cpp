// SPDX-License-Identifier: BSD-3-Clause
// Accumulates by the network's own atomics: no message, no sooner than the target is available, and
// whatever waits for operations waits for them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

Operation add(const std::uint64_t* one, int target, std::int64_t displacement = 0) {
  return on_word(OperationKind::accumulate, one, target, displacement);
}

Operation fetch_and_add(const std::uint64_t* one, std::uint64_t* fetched, int target) {
  Operation operation = add(one, target);
  operation.kind = OperationKind::get_accumulate;
  operation.result = operation.origin;
  operation.result.address = fetched;
  return operation;
}

/// Ranks with a window of 64 words, of which 64-bit elements go by the network's atomics.
class Atomics : public ::testing::Test {
 protected:
  void make(const std::vector<int>& nodes, OpSet ops = every_op) {
    job_ = std::make_unique<SimJob>(nodes);
    SimWindowSpec spec;
    spec.bytes = 64 * sizeof(std::uint64_t);
    spec.atomics = {bit(Basic::u64), ops};
    job_->create_window(spec);
  }
  Window& rank(int index) { return job_->window(index); }
  std::uint64_t messages(int index) { return job_->transport(index).messages_sent(); }
  std::uint64_t word(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_->memory(owner), sizeof value);
    return value;
  }
  void run_until_idle() { job_->run_until_idle(); }

  std::unique_ptr<SimJob> job_;
  const std::uint64_t one_ = 1;
  std::uint64_t fetched_ = 77;
};

TEST_F(Atomics, AreNoMessages) {
  make({0, 1});
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  issue(rank(0), add(&one_, 1));
  issue(rank(0), fetch_and_add(&one_, &fetched_, 1));
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  EXPECT_FALSE(flushed.done());
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(fetched_, 1u);
  EXPECT_EQ(word(1), 2u);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  EXPECT_EQ(messages(0) + messages(1), 0u);
}

// One after the other in the same location, however many they are.
TEST_F(Atomics, KeepTheirOrder) {
  make({0, 1});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  std::array<std::uint64_t, 40> fetched{};
  for (std::uint64_t& each : fetched) issue(rank(0), fetch_and_add(&one_, &each, 1));
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  for (std::size_t i = 0; i < fetched.size(); ++i) EXPECT_EQ(fetched[i], i);
}

// The same for a peer on our node and for ourselves: a flush is not over before they are.
TEST_F(Atomics, OfOurNodeTakeTheSameWay) {
  make({0, 0, 1});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (const int target : {0, 1}) {
    // Grants the lock and opens the way of the hot path.
    const std::uint64_t nothing = 0;
    issue(rank(0), on_word(OperationKind::put, &nothing, target, 8));
    ASSERT_TRUE(rank(0).nothing_pending(target, false));
    const Operation operation = fetch_and_add(&one_, &fetched_, target);
    EXPECT_FALSE(rank(0).try_reduce(nullptr, target, 0, operation.reduction, &one_, &fetched_, 1));
    issue(rank(0), operation);
    EXPECT_EQ(word(target), 0u);
    EXPECT_FALSE(rank(0).flushed(target, false));
    PostedCall flushed;
    flushed.take(rank(0).epochs().flush(target, true, &flushed));
    EXPECT_FALSE(flushed.done());
    run_until_idle();
    EXPECT_TRUE(flushed.done());
    EXPECT_TRUE(rank(0).nothing_pending(target, false));
    EXPECT_EQ(word(target), 1u);
    EXPECT_EQ(fetched_, 0u);
  }
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
}

// Operations that are messages do not make a flush forget the atomics before them, nor the other
// way round.
TEST_F(Atomics, MixWithMessages) {
  make({0, 1});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  issue(rank(0), add(&one_, 1));
  issue(rank(0), on_word(OperationKind::put, &one_, 1, 8));
  issue(rank(0), fetch_and_add(&one_, &fetched_, 1));
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush_all(false, &flushed));
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(fetched_, 1u);
  EXPECT_EQ(messages(0), 3u) << "the lock, the put and the question of the flush";
  EXPECT_TRUE(rank(0).epochs().flush(1, false, nullptr).done);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
}

TEST_F(Atomics, WaitForTheLock) {
  for (const std::vector<int>& nodes : {std::vector{0, 1}, std::vector{0, 0}}) {
    make(nodes);
    ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
    issue(rank(1), add(&one_, 1));
    PostedCall first;
    PostedCall second;
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    issue(rank(0), fetch_and_add(&one_, &fetched_, 1));
    second.take(rank(0).unlock(1, &second));
    run_until_idle();
    EXPECT_EQ(word(1), 1u);
    EXPECT_FALSE(second.done());
    first.take(rank(1).unlock(1, &first));
    run_until_idle();
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(second.done());
    EXPECT_EQ(fetched_, 1u);
  }
}

// An unlock gives the lock on only when the atomics have taken place.
TEST_F(Atomics, AreOverBeforeTheLockIsGivenOn) {
  make({0, 0});
  PostedCall first;
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  issue(rank(0), add(&one_, 1));
  first.take(rank(0).unlock(1, &first));
  PostedCall second;
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  second.take(rank(1).epochs().flush(1, false, &second));
  EXPECT_FALSE(rank(1).epochs().try_hold_lock(1));
  run_until_idle();
  EXPECT_TRUE(first.done());
  EXPECT_EQ(word(1), 1u);
  EXPECT_TRUE(rank(1).epochs().try_hold_lock(1));
  EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
}

TEST_F(Atomics, WaitForTheExposure) {
  for (const std::vector<int>& nodes : {std::vector{0, 1}, std::vector{0, 0}}) {
    make(nodes);
    const std::array<int, 1> origin = {0};
    const std::array<int, 1> target = {1};
    ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
    issue(rank(0), add(&one_, 1));
    PostedCall completed;
    completed.take(rank(0).epochs().complete(&completed));
    run_until_idle();
    EXPECT_FALSE(completed.done());
    EXPECT_EQ(word(1), 0u);
    ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
    PostedCall waited;
    waited.take(rank(1).epochs().wait(&waited));
    EXPECT_FALSE(waited.done());
    run_until_idle();
    EXPECT_TRUE(completed.done());
    EXPECT_TRUE(waited.done());
    EXPECT_EQ(word(1), 1u);
  }
}

// Nor does it forget them when an answer comes that was asked for behind them.
TEST_F(Atomics, AreFlushedThoughMessagesAreFaster) {
  make({0, 1});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  issue(rank(0), fetch_and_add(&one_, &fetched_, 1));
  run_until_idle();  // the lock is granted
  issue(rank(0), fetch_and_add(&one_, &fetched_, 1));
  issue(rank(0), on_word(OperationKind::put, &one_, 1, 8));
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  for (const SimNetwork::Route route : {SimNetwork::Route{0, 1, false}, {1, 0, false}}) {
    while (job_->network().deliver(route)) {
    }
    for (const int index : {0, 1}) job_->process(index).sweep();
  }
  EXPECT_FALSE(flushed.done());
  EXPECT_EQ(fetched_, 0u);
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(fetched_, 1u);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
}

// Nobody's fence ends while an atomic is on its way: there is no mark, so its origin does not take
// part in the count before.
TEST_F(Atomics, AreOverBeforeTheFenceIs) {
  make({0, 1});
  for (const int index : {0, 1}) {
    ASSERT_TRUE(rank(index).epochs().fence(no_precede(), true, nullptr).done);
  }
  issue(rank(0), add(&one_, 1));
  std::array<PostedCall, 2> posted;
  for (const int index : {0, 1}) {
    PostedCall& one = posted[static_cast<std::size_t>(index)];
    one.take(rank(index).epochs().fence(no_succeed(), true, &one));
  }
  // The question whether the target has opened the epoch, and its answer.
  const auto sweep = [&] {
    for (const int index : {0, 1}) job_->process(index).sweep();
  };
  const auto deliver = [&](int from, int to) {
    while (job_->network().deliver({from, to, false})) {
    }
    sweep();
  };
  sweep();
  deliver(0, 1);
  deliver(1, 0);
  EXPECT_EQ(messages(0), 1u);
  EXPECT_EQ(word(1), 0u);
  EXPECT_FALSE(posted[1].done());
  run_until_idle();
  EXPECT_EQ(messages(0), 2u) << "the question and the step of the count: no mark";
  EXPECT_TRUE(posted[0].done());
  EXPECT_TRUE(posted[1].done());
  EXPECT_EQ(word(1), 1u);
}

TEST_F(Atomics, LeaveOtherTypesToTheEngine) {
  make({0, 1});
  Operation operation = add(&one_, 1);
  operation.reduction.basic = Basic::i64;
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  issue(rank(0), operation);
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 1u);
  EXPECT_EQ(messages(0), 2u) << "the operation and the question whether it is complete";
}

// The program has said that it uses others: it gives atomicity with these up, and nothing else.
TEST_F(Atomics, LeaveOtherOpsToTheEngine) {
  make({0, 1}, bit(Op::sum) | bit(Op::no_op));
  Operation swap = fetch_and_add(&one_, &fetched_, 1);
  const std::uint64_t zero = 0;
  swap.kind = OperationKind::compare_and_swap;
  swap.compare = &zero;
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  issue(rank(0), swap);
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(messages(0), 1u);
  issue(rank(0), add(&one_, 1));
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 2u);
  EXPECT_EQ(messages(0), 1u);
}

TEST_F(Atomics, RefuseWhatIsNotAligned) {
  make({0, 1});
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  const LayoutRef odd(new Layout({{0, 8}}, 12, Basic::u64));
  std::array<std::uint64_t, 2> ones = {1, 1};
  Operation operation = add(ones.data(), 1);
  EXPECT_EQ(rank(0).epochs().issue(add(ones.data(), 1, 4)).error, Error::displacement);
  operation.target_layout = odd;
  EXPECT_EQ(rank(0).epochs().issue(operation).error, Error::none) << "a single element is";
  operation.target_count = operation.origin.count = 2;
  EXPECT_EQ(rank(0).epochs().issue(operation).error, Error::displacement);
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 1u);
}

}  // namespace
}  // namespace oriel::test
