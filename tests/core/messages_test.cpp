// SPDX-License-Identifier: BSD-3-Clause
// How many messages and packets each synchronization costs between ranks of different nodes: the
// ladders of docs/protocols.md, counted (S2, S3, S4, S7).
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

struct Sent {
  std::uint64_t messages = 0;
  std::uint64_t packets = 0;

  friend Sent operator-(Sent a, Sent b) { return {a.messages - b.messages, a.packets - b.packets}; }
  friend bool operator==(const Sent&, const Sent&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Sent& sent) {
    return out << sent.messages << " messages in " << sent.packets << " packets";
  }
};

/// Ranks on nodes of their own with a window of 64 words.
class Messages : public ::testing::Test {
 protected:
  void make(int ranks, const Limits& limits = {}, Atomicity atomicity = {}) {
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank);
    job_ = std::make_unique<SimJob>(nodes, false, limits);
    SimWindowSpec spec;
    spec.bytes = word_count * sizeof(std::uint64_t);
    spec.direct = true;
    spec.atomicity = atomicity;
    job_->create_window(spec);
    // As with an agent: what is not urgent waits for more to travel with.
    for (int rank = 0; rank < ranks; ++rank) job_->process(rank).set_swept_soon(true);
  }
  Window& rank(int index) { return job_->window(index); }
  Sent sent(int index) {
    return {job_->transport(index).messages_sent(), job_->transport(index).packets()};
  }
  void put(int origin, int target, std::int64_t place = 0) {
    issue(rank(origin), on_word(OperationKind::put, &value_, target, 8 * place));
  }
  /// Of the whole window of rank 1.
  void put_all() {
    const LayoutRef all(new Layout({{0, sizeof values_}}, sizeof values_, Basic::u64));
    values_.fill(7);
    Operation operation = on_word(OperationKind::put, values_.data(), 1);
    operation.origin.layout = operation.target_layout = all;
    issue(rank(0), operation);
  }
  std::uint64_t word(int owner, int place = 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_->memory(owner) + 8 * place, sizeof value);
    return value;
  }
  void run_until_idle() { job_->run_until_idle(); }
  /// All packets, or all direct transfers, that are under way arrive: how many.
  int deliver(bool transfers) {
    int arrived = 0;
    for (const SimNetwork::Route& route : job_->network().under_way()) {
      while (route.transfers == transfers && job_->network().deliver(route)) ++arrived;
    }
    return arrived;
  }

  static constexpr std::uint64_t word_count = 64;

  std::unique_ptr<SimJob> job_;
  std::uint64_t value_ = 7;
  std::uint64_t got_ = 0;
  std::array<std::uint64_t, word_count> values_{};
};

// Two ranks that put to one another: one packet each carries the operations, the mark and the
// count.
TEST_F(Messages, FenceOfTwo) {
  make(2);
  for (int index : {0, 1}) {
    EXPECT_TRUE(rank(index).epochs().fence(no_precede(), true, nullptr).done);
    EXPECT_EQ(sent(index), (Sent{0, 0})) << "a fence that precedes nothing tells nobody";
  }
  std::array<PostedCall, 2> posted;
  for (int index : {0, 1}) {
    for (int place = 0; place < 5; ++place) put(index, 1 - index, place);
    EXPECT_EQ(sent(index).packets, 0u);
    posted[static_cast<std::size_t>(index)].take(
        rank(index).epochs().fence(no_succeed(), true, &posted[static_cast<std::size_t>(index)]));
  }
  run_until_idle();
  for (int index : {0, 1}) {
    EXPECT_TRUE(posted[static_cast<std::size_t>(index)].done());
    EXPECT_EQ(sent(index), (Sent{5 + 1 + 1, 1}));
    EXPECT_EQ(word(index, 4), 7u);
  }
}

// Any number of ranks: ceil(log2 n) messages of each, and one mark for each target with operations.
TEST_F(Messages, FenceOfMany) {
  for (const int ranks : {3, 4, 5, 8, 16, 17}) {
    make(ranks);
    std::vector<PostedCall> posted(static_cast<std::size_t>(ranks));
    for (int index = 0; index < ranks; ++index) {
      ASSERT_TRUE(rank(index).epochs().fence(no_precede(), true, nullptr).done);
    }
    put(1, 0);
    put(2, 0);
    for (int index = 0; index < ranks; ++index) {
      PostedCall& one = posted[static_cast<std::size_t>(index)];
      one.take(rank(index).epochs().fence(no_succeed(), true, &one));
    }
    run_until_idle();
    const auto steps = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    for (int index = 0; index < ranks; ++index) {
      EXPECT_TRUE(posted[static_cast<std::size_t>(index)].done()) << ranks;
      const std::uint64_t own = index == 1 || index == 2 ? 2 : 0;  // the put and its mark
      EXPECT_EQ(sent(index).messages, steps + own) << "rank " << index << " of " << ranks;
    }
  }
}

// post: one message per origin. start: nothing. complete: the put and the end of the access, in one
// packet, which does not wait for the post.
TEST_F(Messages, PostStartCompleteWait) {
  make(2);
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  put(0, 1);
  EXPECT_TRUE(rank(0).epochs().complete(nullptr).done)
      << "a short operation does not wait for the post";
  EXPECT_EQ(sent(0), (Sent{2, 1}));
  run_until_idle();
  EXPECT_EQ(word(1), 0u) << "not exposed yet";
  ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
  EXPECT_EQ(word(1), 7u);
  EXPECT_TRUE(rank(1).epochs().wait(nullptr).done);
  EXPECT_EQ(sent(1), (Sent{1, 1}));
}

TEST_F(Messages, NoCheckElidesThePost) {
  make(2);
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  ASSERT_EQ(rank(1).epochs().post(origin, no_check()), Error::none);
  ASSERT_EQ(rank(0).epochs().start(target, no_check()), Error::none);
  put(0, 1);
  EXPECT_TRUE(rank(0).epochs().complete(nullptr).done);
  PostedCall posted;
  posted.take(rank(1).epochs().wait(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(sent(0), (Sent{2, 1}));
  EXPECT_EQ(sent(1), (Sent{0, 0}));
}

// A target without operations still gets its completion.
TEST_F(Messages, EmptyAccess) {
  make(2);
  const std::array<int, 1> target = {1};
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  EXPECT_TRUE(rank(0).epochs().complete(nullptr).done);
  EXPECT_EQ(sent(0), (Sent{1, 1}));
}

// Ghost cells: post, start, put, complete, wait between two neighbours is one packet each way.
TEST_F(Messages, Exchange) {
  make(2);
  std::array<PostedCall, 2> posted;
  for (int index : {0, 1}) {
    const std::array<int, 1> other = {1 - index};
    ASSERT_EQ(rank(index).epochs().post(other, {}), Error::none);
    ASSERT_EQ(rank(index).epochs().start(other, {}), Error::none);
    put(index, 1 - index);
    EXPECT_TRUE(rank(index).epochs().complete(nullptr).done);
    posted[static_cast<std::size_t>(index)].take(
        rank(index).epochs().wait(&posted[static_cast<std::size_t>(index)]));
  }
  run_until_idle();
  for (int index : {0, 1}) {
    EXPECT_TRUE(posted[static_cast<std::size_t>(index)].done());
    EXPECT_EQ(sent(index), (Sent{3, 1}));
  }
}

// The lone operation travels with the request, the unlock with the operation; the target's answer
// is the grant and one acknowledgement.
TEST_F(Messages, LockPutUnlock) {
  make(2);
  PostedCall posted;
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  put(0, 1);
  posted.take(rank(0).unlock(1, &posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 7u);
  EXPECT_EQ(sent(0), (Sent{3, 1}));
  EXPECT_EQ(sent(1), (Sent{2, 1}));
}

// With the key for it, lock epochs of one target are sent before the earlier ones are answered. The
// first is sent at once; those behind it wait for more to travel with, because the target grants
// one after the other (E7, S7).
TEST_F(Messages, LockEpochsBehindAnother) {
  for (const bool swept_soon : {true, false}) {
    make(3);
    job_->process(0).set_swept_soon(swept_soon);
    rank(0).epochs().set_reorder({.access_after_access = true});
    std::array<PostedCall, 5> posted;
    const auto epoch = [&](int target, std::size_t number) {
      ASSERT_EQ(rank(0).lock(true, target, {}), Error::none);
      put(0, target);
      posted.at(number).take(rank(0).unlock(target, &posted.at(number)));
    };
    for (std::size_t number = 0; number < 3; ++number) epoch(1, number);
    EXPECT_EQ(sent(0), (Sent{9, swept_soon ? 1u : 3u}));
    epoch(2, 3);
    EXPECT_EQ(sent(0).packets, swept_soon ? 3u : 4u) << "of another target, with what waits";
    epoch(1, 4);
    EXPECT_EQ(sent(0), (Sent{15, swept_soon ? 3u : 5u}));
    run_until_idle();
    for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
    EXPECT_EQ(sent(0).messages, 15u);
    EXPECT_EQ(sent(1).messages, 8u) << "four grants and four answers";
    // Behind nothing.
    const std::uint64_t before = sent(0).packets;
    PostedCall last;
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    put(0, 1);
    last.take(rank(0).unlock(1, &last));
    EXPECT_EQ(sent(0).packets, before + 1);
    run_until_idle();
    EXPECT_TRUE(last.done());
  }
}

// A weak unlock needs no answer: epochs follow one another without waiting, and take effect in
// order. The window is quiet when the answers are here (S7).
TEST_F(Messages, WeakUnlock) {
  make(2);
  std::array<std::uint64_t, 3> values = {1, 2, 3};
  for (std::uint64_t& value : values) {
    ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
    issue(rank(0), on_word(OperationKind::put, &value, 1));
    EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
    value = 0;
  }
  EXPECT_EQ(sent(0), (Sent{9, 0})) << "they wait for more to travel with";
  EXPECT_TRUE(rank(0).epochs().quiet()) << "nothing is kept of them";
  run_until_idle();
  EXPECT_EQ(word(1), 3u);
  EXPECT_EQ(sent(0), (Sent{9, 1}));
  EXPECT_EQ(sent(1), (Sent{3, 1})) << "the grants alone";
}

// Who sweeps soon does so only if nobody else seems to: calls that sweep in passing must not keep
// what a weak unlock sends for ever, since the program may poll for what comes of it.
TEST_F(Messages, WeakUnlockIsSentInPassingInTheEnd) {
  make(2);
  ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
  put(0, 1);
  EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
  int calls = 0;
  for (; calls < 1000 && sent(0).packets == 0; ++calls) job_->process(0).sweep_in_passing();
  EXPECT_GT(calls, 1);
  EXPECT_EQ(sent(0).packets, 1u);
}

// A weak epoch that is closed and waits for its turn is before the one that is opened then.
TEST_F(Messages, UnlockAllFinishesWeakEpochsThatAreSentLater) {
  make(3);
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  std::array<PostedCall, 3> posted;
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  put(0, 1);
  posted[0].take(rank(0).unlock(1, posted.data()));
  ASSERT_EQ(rank(0).lock(true, 2, weak_unlock()), Error::none);
  put(0, 2);
  posted[1].take(rank(0).unlock(2, &posted[1]));
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  posted[2].take(rank(0).unlock_all(&posted[2]));
  job_->run_until_idle();
  EXPECT_FALSE(posted[0].done() || posted[1].done() || posted[2].done());
  EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
  // All but what is sent to the target of the weak epoch arrives.
  for (int i = 0; i < 100; ++i) {
    for (int index : {0, 1, 2}) job_->process(index).sweep();
    for (const SimNetwork::Route& route : job_->network().under_way()) {
      if (route.to != 2) job_->network().deliver(route);
    }
  }
  EXPECT_TRUE(posted[0].done() && posted[1].done());
  EXPECT_FALSE(posted[2].done());
  run_until_idle();
  EXPECT_TRUE(posted[2].done());
  EXPECT_EQ(word(2), 7u);
}

// What is held back for a lock comes before what needs none.
TEST_F(Messages, NoCheckStaysBehindAWeakEpoch) {
  make(2);
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  value_ = 5;
  ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
  put(0, 1);
  EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
  run_until_idle();
  value_ = 7;
  ASSERT_EQ(rank(0).lock(true, 1, no_check()), Error::none);
  put(0, 1);
  PostedCall posted;
  posted.take(rank(0).unlock(1, &posted));
  EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 7u);
}

// However many operations a target has to hold back, whatever their size: it is not asked to hold
// more than it takes.
TEST_F(Messages, ATargetIsNotAskedToHoldBackTooMuch) {
  constexpr int often = 70'000;
  for (const bool checked : {true, false}) {
    make(2);
    ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
    value_ = 1;
    if (!checked) {
      // What comes now waits behind it.
      ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
      put(0, 1, 1);
      EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
    }
    ASSERT_EQ(rank(0).lock(true, 1, checked ? Assert{} : no_check()), Error::none);
    for (int i = 0; i < often; ++i) {
      Operation operation = on_word(OperationKind::accumulate, &value_, 1);
      if (i % 2 == 0) {
        operation.kind = OperationKind::get;
        operation.result = std::exchange(operation.origin, {});
        operation.result.address = &got_;
        operation.reduction = {};
      }
      issue(rank(0), operation);
    }
    PostedCall posted;
    posted.take(rank(0).unlock(1, &posted));
    run_until_idle();
    EXPECT_FALSE(posted.done());
    EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
    run_until_idle();
    EXPECT_TRUE(posted.done());
    EXPECT_EQ(word(1), static_cast<std::uint64_t>(often / 2));
    EXPECT_EQ(job_->process(1).refused(), 0u);
  }
}

// Whatever a weak unlock has left behind is complete when a later flush or usual unlock is, even if
// that epoch has no operation of its own.
TEST_F(Messages, LaterEpochsFinishWhatAWeakUnlockLeft) {
  const auto leave_behind = [&] {
    ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
    put(0, 1);
    EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
  };
  const auto expect_finished_by = [&](auto&& call) {
    make(2);
    leave_behind();
    PostedCall posted;
    posted.take(call(&posted));
    EXPECT_FALSE(posted.done());
    run_until_idle();
    EXPECT_TRUE(posted.done());
    EXPECT_EQ(word(1), 7u);
  };
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock_all({}), Error::none);
    return rank(0).epochs().flush(1, false, posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock_all({}), Error::none);
    return rank(0).epochs().flush_all(false, posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock_all({}), Error::none);
    return rank(0).unlock_all(posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock(false, 1, {}), Error::none);
    return rank(0).unlock(1, posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock(false, 1, no_check()), Error::none);
    return rank(0).epochs().flush(1, false, posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_EQ(rank(0).lock(false, 1, no_check()), Error::none);
    return rank(0).unlock(1, posted);
  });
  expect_finished_by([&](PostedCall* posted) {
    EXPECT_TRUE(rank(1).epochs().fence(no_precede(), true, nullptr).done);
    EXPECT_EQ(rank(1).epochs().fence(no_succeed(), true, nullptr).error, Error::none);
    EXPECT_TRUE(rank(0).epochs().fence(no_precede(), true, nullptr).done);
    return rank(0).epochs().fence(no_succeed(), true, posted);
  });
}

// A long put waits for the grant: nobody could hold its direct transfers back at the target.
TEST_F(Messages, LongPutWaitsForTheGrant) {
  Limits limits;
  limits.direct = limits.direct_fragment = 128;
  make(2, limits);
  PostedCall posted;
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  put_all();
  EXPECT_EQ(sent(0).messages, 1u) << "the lock";
  posted.take(rank(0).unlock(1, &posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(sent(0).messages, 1 + 1u) << "and the unlock";
  for (int place = 0; place < 64; ++place) EXPECT_EQ(word(1, place), 7u);
}

/// Both sides of an exchange of long puts need the other one's answer before they may send: who
/// waits gives one piece at a time to the network and looks for messages in between.
TEST_F(Messages, LongPutOfAWaitingProcessGoesPieceByPiece) {
  Limits limits;
  limits.direct = limits.direct_fragment = 128;
  make(2, limits);
  job_->network().set_writes(SimNetwork::delivered_writes);  // transfers have routes of their own
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  put_all();
  put_all();
  PostedCall completed;
  completed.take(rank(0).epochs().complete(&completed));
  ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
  job_->process(1).sweep();
  EXPECT_EQ(deliver(false), 1) << "the grant";
  for (int piece = 0; piece < 8; ++piece) {
    EXPECT_TRUE(job_->process(0).sweep());
    EXPECT_EQ(deliver(true), 1);
  }
  run_until_idle();
  EXPECT_TRUE(completed.done());
}

// A call gives the network all of a put, in several transfers here, because the program may compute
// after the call. So does the sweep that receives the grant.
TEST_F(Messages, LongPutsOfAnOpenEpochGoAtOnce) {
  for (const bool recorded : {false, true}) {
    Limits limits;
    limits.direct = limits.direct_fragment = 128;
    make(2, limits);
    job_->network().set_writes(SimNetwork::delivered_writes);
    job_->network().set_longest_transfer(sizeof values_ / 2);
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    PostedCall granted;
    if (!recorded) {
      put(0, 1);
      granted.take(rank(0).epochs().flush(1, false, &granted));
      run_until_idle();
    }
    put_all();
    put_all();
    if (recorded) {
      job_->process(0).sweep();
      EXPECT_EQ(deliver(false), 1) << "the lock";
      job_->process(1).sweep();
      EXPECT_EQ(deliver(false), 1) << "the grant";
      job_->process(0).sweep();
    }
    EXPECT_EQ(deliver(true), 4);
    EXPECT_EQ(word(1, word_count - 1), 7u);
    PostedCall unlocked;
    unlocked.take(rank(0).unlock(1, &unlocked));
    run_until_idle();
    EXPECT_TRUE(unlocked.done());
  }
}

// Whoever holds the lock that a weak epoch still waits for may wait for one that we hold now.
TEST_F(Messages, FlushAllLeavesTargetsThatAreNotLocked) {
  make(3);
  ASSERT_EQ(rank(1).lock(true, 1, {}), Error::none);
  ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
  put(0, 1);
  EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
  ASSERT_EQ(rank(0).lock(true, 2, {}), Error::none);
  put(0, 2);
  PostedCall posted;
  posted.take(rank(0).epochs().flush_all(false, &posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(word(1), 0u);
  EXPECT_TRUE(rank(1).unlock(1, nullptr).done);
  run_until_idle();
  EXPECT_EQ(word(1), 7u);
}

// What it fetches is there when it returns, and another kind of epoch comes after it (E5).
TEST_F(Messages, WeakUnlockWaitsForFetchedData) {
  make(2);
  const std::uint64_t stored = 5;
  std::memcpy(job_->memory(1), &stored, sizeof stored);
  ASSERT_EQ(rank(0).lock_all(weak_unlock()), Error::none);
  Operation get = on_word(OperationKind::get, nullptr, 1);
  get.result = get.origin;
  get.result.address = &got_;
  get.origin = {};
  issue(rank(0), get);
  put(0, 1);
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  EXPECT_FALSE(posted.done());
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(got_, 5u);
  ASSERT_EQ(rank(0).lock(true, 1, weak_unlock()), Error::none);
  put(0, 1, 1);
  EXPECT_TRUE(rank(0).unlock(1, nullptr).done);
  const std::array<int, 1> target = {1};
  const std::uint64_t before = sent(0).messages;
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  put(0, 1, 2);
  posted = {};
  posted.take(rank(0).epochs().complete(&posted));
  EXPECT_EQ(sent(0).messages, before + 1) << "the question whether the put is there";
  EXPECT_FALSE(posted.done());
  run_until_idle();
  EXPECT_TRUE(posted.done());
}

// However much has been sent ahead in earlier epochs: it is settled when the target has opened
// them.
TEST_F(Messages, EpochsSentAheadOneAfterTheOther) {
  make(2);
  const LayoutRef words(new Layout({{0, 512}}, 512, Basic::u64));
  std::vector<std::uint64_t> values(64, 7);
  Operation operation = on_word(OperationKind::put, values.data(), 1);
  operation.origin.layout = operation.target_layout = words;
  constexpr std::uint64_t epochs = 300;  // 150 KB
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  for (std::uint64_t i = 1; i <= epochs; ++i) {
    PostedCall posted;
    ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
    issue(rank(0), operation);
    posted.take(rank(0).unlock(1, &posted));
    run_until_idle();
    ASSERT_TRUE(posted.done());
    ASSERT_EQ(sent(0), (Sent{3 * i, i}));
  }
  for (std::uint64_t i = 1; i <= epochs; ++i) {
    ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
    ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
    issue(rank(0), operation);
    ASSERT_TRUE(rank(0).epochs().complete(nullptr).done);
    PostedCall posted;
    posted.take(rank(1).epochs().wait(&posted));
    run_until_idle();
    ASSERT_TRUE(posted.done());
    ASSERT_EQ(sent(0), (Sent{3 * epochs + 2 * i, epochs + i}));
  }
  for (std::uint64_t i = 1; i <= epochs; ++i) {
    for (int index : {0, 1})
      ASSERT_TRUE(rank(index).epochs().fence(no_precede(), true, nullptr).done);
    issue(rank(0), operation);
    std::array<PostedCall, 2> posted;
    for (int index : {0, 1}) {
      PostedCall& one = posted[static_cast<std::size_t>(index)];
      one.take(rank(index).epochs().fence(no_succeed(), true, &one));
    }
    run_until_idle();
    ASSERT_EQ(sent(0), (Sent{5 * epochs + 3 * i, 2 * epochs + i}));
  }
}

// A final get is the acknowledgement.
TEST_F(Messages, LockPutGetUnlock) {
  make(2);
  PostedCall posted;
  ASSERT_EQ(rank(0).lock(false, 1, {}), Error::none);
  put(0, 1);
  Operation get = on_word(OperationKind::get, nullptr, 1);
  get.result = get.origin;
  get.result.address = &got_;
  get.origin = {};
  issue(rank(0), get);
  posted.take(rank(0).unlock(1, &posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(got_, 7u);
  EXPECT_EQ(sent(0), (Sent{4, 1}));
  EXPECT_EQ(sent(1), (Sent{2, 1})) << "the grant and the data";
}

/// A lock epoch that rank 0 opens and closes while an earlier one waits for rank 2: its operations
/// are recorded.
class RecordedGet : public Messages {
 protected:
  RecordedGet() {
    make(3);
    EXPECT_EQ(rank(2).lock(true, 2, {}), Error::none);
    EXPECT_EQ(rank(0).lock(true, 2, {}), Error::none);
    put(0, 2);
    earlier_.take(rank(0).unlock(2, &earlier_));
    EXPECT_EQ(rank(0).lock(true, 1, {}), Error::none);
  }
  void get(int place) {
    Operation get = on_word(OperationKind::get, nullptr, 1, std::int64_t{8} * place);
    get.result = get.origin;
    get.result.address = &got_;
    get.origin = {};
    issue(rank(0), get);
  }
  void finish() {
    PostedCall posted;
    posted.take(rank(0).unlock(1, &posted));
    run_until_idle();
    EXPECT_FALSE(posted.done());
    PostedCall released;
    released.take(rank(2).unlock(2, &released));
    run_until_idle();
    EXPECT_TRUE(posted.done());
    EXPECT_TRUE(earlier_.done());
  }

  PostedCall earlier_;
};

// It goes last, and its reply is the acknowledgement of all (S4).
TEST_F(RecordedGet, GoesLast) {
  std::memcpy(job_->memory(1) + 8, &value_, sizeof value_);
  put(0, 1, 2);
  get(1);
  put(0, 1, 3);
  put(0, 1, 4);
  finish();
  EXPECT_EQ(got_, 7u);
  for (const int place : {2, 3, 4}) EXPECT_EQ(word(1, place), 7u);
  EXPECT_EQ(sent(1), (Sent{2, 1})) << "the grant and the data";
}

// Hosts keep the order of a get and a put on the same memory, though MPI does not ask for it.
TEST_F(RecordedGet, KeepsItsPlaceBeforeAPutOnTheSameMemory) {
  get(3);
  put(0, 1, 3);
  put(0, 1, 4);
  finish();
  EXPECT_EQ(got_, 0u);
  EXPECT_EQ(word(1, 3), 7u);
  EXPECT_EQ(sent(1).messages, 3u) << "the grant, the data and the acknowledgement";
}

TEST_F(RecordedGet, KeepsItsPlaceWhereOrderIsPromised) {
  get(1);
  Operation ordered = on_word(OperationKind::put, &value_, 1, 16);
  ordered.ordered = true;
  issue(rank(0), ordered);
  finish();
  EXPECT_EQ(sent(1).messages, 3u) << "the grant, the data and the acknowledgement";
}

// A put whose request waits for the target asks by a question of its own.
TEST_F(RecordedGet, GoesBehindAPutThatWaitsForTheTarget) {
  std::memcpy(job_->memory(1) + 8, &value_, sizeof value_);
  get(1);
  Operation awaiting = on_word(OperationKind::put, &value_, 1, 16);
  PostedCall there;
  awaiting.completion = &there;
  awaiting.completes_there = true;
  there.take(rank(0).epochs().issue(awaiting));
  put(0, 1, 3);
  finish();
  EXPECT_EQ(got_, 7u);
  EXPECT_TRUE(there.done());
  for (const int place : {2, 3}) EXPECT_EQ(word(1, place), 7u);
  EXPECT_EQ(sent(1).messages, 3u) << "the grant, the answer and the data";
}

TEST_F(RecordedGet, KeepsItsPlaceBehindAFlush) {
  get(1);
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  put(0, 1, 2);
  finish();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(word(1, 2), 7u);
}

// Whoever has flushed has nothing left to be acknowledged.
TEST_F(Messages, FlushAsksOnce) {
  make(2);
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (int place = 0; place < 10; ++place) put(0, 1, place);
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(sent(0), (Sent{1 + 10 + 1, 1}));
  EXPECT_EQ(sent(1), (Sent{2, 1}));
  EXPECT_TRUE(rank(0).epochs().flush(1, false, nullptr).done);
  EXPECT_TRUE(rank(0).epochs().flush(1, true, nullptr).done);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done);
  EXPECT_EQ(sent(0), (Sent{1 + 10 + 1 + 1, 2}));
}

/// Long puts, on networks where messages can overtake them and on others.
class DirectWrites : public Messages, public ::testing::WithParamInterface<SimNetwork::Writes> {
 protected:
  DirectWrites() {
    Limits limits;
    limits.direct = sizeof(std::uint64_t);
    make(2, limits);
    job_->network().set_writes(GetParam());
  }
  static bool ordered() { return GetParam().ordered; }
  /// Everything but direct transfers that are slower than messages.
  void settle_messages() {
    bool moved = true;
    while (moved) {
      moved = job_->process(0).sweep() || job_->process(1).sweep();
      moved |= deliver(false) != 0;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, DirectWrites, ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

// Without the target's consent nothing else would keep it behind the messages of the epoch before.
TEST_P(DirectWrites, DoNotOvertakeAWeakEpoch) {
  Assert weak = weak_unlock();
  weak.no_check = true;
  value_ = 5;
  ASSERT_EQ(rank(0).lock_all(weak), Error::none);
  put(0, 1);
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  EXPECT_TRUE(posted.done());
  ASSERT_EQ(rank(0).lock_all(no_check()), Error::none);
  put_all();
  EXPECT_EQ(deliver(true), 0) << "the message is still on its way";
  posted = {};
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_TRUE(posted.done());
  for (const int place : {0, 63}) EXPECT_EQ(word(1, place), 7u);
}

// The post of a start with NOCHECK may have been made while the exposure before it was pending.
TEST_P(DirectWrites, DoNotOvertakeTheAccessBefore) {
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  PostedCall waited;
  ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
  waited.take(rank(1).epochs().wait(&waited));
  ASSERT_EQ(rank(1).epochs().post(origin, no_check()), Error::none);
  run_until_idle();
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  value_ = 5;
  put(0, 1);
  EXPECT_TRUE(rank(0).epochs().complete(nullptr).done);
  ASSERT_EQ(rank(0).epochs().start(target, no_check()), Error::none);
  put_all();
  EXPECT_EQ(deliver(true), 0) << "the message is still on its way";
  run_until_idle();
  PostedCall completed;
  completed.take(rank(0).epochs().complete(&completed));
  PostedCall second;
  second.take(rank(1).epochs().wait(&second));
  run_until_idle();
  EXPECT_TRUE(waited.done() && completed.done() && second.done());
  for (const int place : {0, 63}) EXPECT_EQ(word(1, place), 7u);
}

TEST_P(DirectWrites, TheEndOfTheAccessComesBehindThem) {
  const std::array<int, 1> origin = {0};
  const std::array<int, 1> target = {1};
  ASSERT_EQ(rank(1).epochs().post(origin, {}), Error::none);
  run_until_idle();
  ASSERT_EQ(rank(0).epochs().start(target, {}), Error::none);
  put_all();
  PostedCall completed;
  completed.take(rank(0).epochs().complete(&completed));
  EXPECT_EQ(sent(0).messages, ordered() ? 1u : 0u) << "where they cannot be overtaken, at once";
  PostedCall waited;
  waited.take(rank(1).epochs().wait(&waited));
  settle_messages();
  EXPECT_EQ(waited.done(), ordered());
  EXPECT_EQ(completed.done(), ordered());
  run_until_idle();
  EXPECT_TRUE(waited.done());
  EXPECT_TRUE(completed.done());
  EXPECT_EQ(word(1, word_count - 1), 7u);
  EXPECT_EQ(sent(0).messages, 1u);
}

// The answer to the flush's question may come before the bytes have arrived.
TEST_P(DirectWrites, AFlushWaitsForThem) {
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  put_all();
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  settle_messages();
  EXPECT_EQ(flushed.done(), ordered());
  run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(word(1, word_count - 1), 7u);
  EXPECT_TRUE(rank(0).unlock_all(nullptr).done) << "nothing is left to wait for";
}

// Ages decide what it covers (E9): whoever fills the next buffer while the last one is under way is
// told when the last one is there.
TEST_P(DirectWrites, AFlushDoesNotWaitForLaterOnes) {
  ASSERT_EQ(rank(0).lock(true, 1, {}), Error::none);
  PostedCall granted;
  put(0, 1);
  granted.take(rank(0).epochs().flush(1, false, &granted));
  run_until_idle();
  ASSERT_TRUE(granted.done());
  put_all();
  PostedCall flushed;
  flushed.take(rank(0).epochs().flush(1, false, &flushed));
  job_->process(0).sweep();
  put_all();
  const SimNetwork::Route route{0, 1, !ordered()};
  EXPECT_TRUE(job_->network().deliver(route));
  if (!GetParam().delivered) {
    EXPECT_TRUE(job_->network().deliver(route)) << "the question";
    job_->process(1).sweep();
    EXPECT_TRUE(job_->network().deliver({1, 0, false}));
    job_->process(0).sweep();
  } else {
    job_->process(0).sweep();
  }
  EXPECT_TRUE(flushed.done());
  EXPECT_TRUE(job_->network().deliver(route)) << "the second one was still under way";
  PostedCall unlocked;
  unlocked.take(rank(0).unlock(1, &unlocked));
  run_until_idle();
  EXPECT_TRUE(unlocked.done());
}

// Where each element may be updated by itself, the messages of a long accumulate need not wait for
// one another: each is carried out once, gaps or not.
TEST_F(Messages, EachMessageOfALongAccumulateIsCarriedOutOnce) {
  Limits limits;
  limits.fragment = 64;
  for (const std::uint64_t granularity : {0U, 8U}) {
    make(2, limits, Atomicity{.granularity = granularity});
    const LayoutRef every_second(new Layout({{0, 8}}, 16, Basic::u64));
    const LayoutRef dense(new Layout({{0, 8}}, 8, Basic::u64));
    constexpr std::uint64_t count = word_count / 2;
    for (std::uint64_t i = 0; i < count; ++i) values_[i] = i + 1;
    Operation operation = on_word(OperationKind::accumulate, values_.data(), 1);
    operation.origin = {values_.data(), count, dense};
    operation.target_layout = every_second;
    operation.target_count = count;
    ASSERT_EQ(rank(0).lock_all({}), Error::none);
    issue(rank(0), operation);
    PostedCall posted;
    posted.take(rank(0).unlock_all(&posted));
    run_until_idle();
    ASSERT_TRUE(posted.done());
    for (int i = 0; i < static_cast<int>(count); ++i) {
      EXPECT_EQ(word(1, 2 * i), static_cast<std::uint64_t>(i) + 1) << granularity;
      EXPECT_EQ(word(1, 2 * i + 1), 0U) << granularity;
    }
  }
}

// A datatype of the target is described once.
TEST_F(Messages, DatatypesAreDescribedOnce) {
  make(2);
  const LayoutRef pair(new Layout({{0, 8}, {24, 8}}, 32, Basic::u64));
  const LayoutRef word_layout(new Layout({{0, 8}}, 8, Basic::u64));
  std::array<std::uint64_t, 2> values = {3, 4};
  Operation operation = on_word(OperationKind::put, values.data(), 1);
  operation.origin.count = 2;
  operation.target_layout = pair;
  ASSERT_EQ(rank(0).lock_all({}), Error::none);
  for (int i = 0; i < 5; ++i) issue(rank(0), operation);
  PostedCall posted;
  posted.take(rank(0).unlock_all(&posted));
  run_until_idle();
  EXPECT_EQ(word(1, 0), 3u);
  EXPECT_EQ(word(1, 3), 4u);
  EXPECT_EQ(sent(0), (Sent{1 + 1 + 5 + 1, 1})) << "lock, datatype, puts, unlock";
}

}  // namespace
}  // namespace oriel::test
