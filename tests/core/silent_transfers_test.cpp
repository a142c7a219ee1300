// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and their flushes as direct transfers of every length: the target sends and receives
// nothing, and need not look at the network, unless the network only orders writes (B14).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t silent_words = 16;
constexpr std::uint64_t silent_window_words = 64 * 1024;

/// Rank 1 computes: only rank 0 sweeps. The parameter: what the network promises of writes.
class SilentTransfers : public ::testing::TestWithParam<SimNetwork::Writes> {
 protected:
  SilentTransfers() : SilentTransfers(limits()) {}
  explicit SilentTransfers(const Limits& limits) : job_({0, 1}, false, limits) {
    job_.network().set_writes(GetParam());
    job_.network().set_immediate_data(8, SimNetwork::ArrivalOrder::in_order);
    SimWindowSpec spec;
    spec.bytes = 8 * silent_window_words;
    spec.direct = true;
    job_.create_window(spec);
    for (std::uint64_t word = 0; word < silent_words; ++word) store(word, 100 + word);
  }
  static Limits limits() {
    Limits limits;
    limits.set_by_card(true);
    return limits;
  }
  Window& origin() { return job_.window(0); }
  static bool delivered() { return GetParam().delivered; }

  void store(std::uint64_t word, std::uint64_t value) {
    std::memcpy(job_.memory(1) + 8 * word, &value, sizeof value);
  }
  std::uint64_t load(std::uint64_t word) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + 8 * word, sizeof value);
    return value;
  }
  /// Lets the network move everything while rank 1 computes.
  void settle() {
    for (bool moved = true; moved;) {
      moved = job_.process(0).sweep();
      for (const SimNetwork::Route& route : job_.network().under_way()) {
        while (job_.network().deliver(route)) moved = true;
      }
    }
  }
  /// The end of a call that rank 1 takes part in.
  void finish(PostedCall& posted, const Outcome& outcome) {
    posted.take(outcome);
    job_.run_until_idle();
    ASSERT_TRUE(posted.done());
  }
  void open_lock_all() {
    ASSERT_EQ(origin().lock_all({}), Error::none);
    acquire();
  }
  /// The lock is granted to the first operation.
  void acquire() {
    PostedCall flushed;
    put(0, 1);
    finish(flushed, origin().epochs().flush(1, false, &flushed));
    job_.run_until_idle();
  }
  void put(std::uint64_t word, std::uint64_t value) {
    values_[word] = value;
    issue(origin(), on_word(OperationKind::put, &values_[word], 1, static_cast<int>(8 * word)));
  }
  static Operation get_of(std::uint64_t word, std::uint64_t& result) {
    Operation get = on_word(OperationKind::get, &result, 1, static_cast<int>(8 * word));
    std::swap(get.origin, get.result);
    return get;
  }
  static constexpr ThreadSet a_thread = 1;
  static constexpr ThreadSet other_thread = 2;
  void issue_of(ThreadSet thread, OperationKind kind, std::int64_t displacement) {
    values_[0] = 5;
    Operation operation = on_word(kind, values_.data(), 1, displacement);
    operation.thread = thread;
    issue(origin(), operation);
  }
  bool flush(bool all = false, ThreadSet threads = all_threads) {
    PostedCall flushed;
    Epochs& epochs = origin().epochs();
    flushed.take(all ? epochs.flush_all(false, &flushed, threads)
                     : epochs.flush(1, false, &flushed, threads));
    settle();
    const bool done = flushed.done();
    job_.run_until_idle();
    EXPECT_TRUE(flushed.done());
    return done;
  }
  struct Sent {
    std::uint64_t by_origin;
    std::uint64_t by_target;
    bool operator==(const Sent&) const = default;
  };
  Sent sent() { return {job_.transport(0).messages_sent(), job_.transport(1).messages_sent()}; }

  void fence(const Assert& assertion = {}) {
    std::array<PostedCall, 2> posted;
    for (int rank = 0; rank < 2; ++rank) {
      PostedCall& one = posted[static_cast<std::size_t>(rank)];
      one.take(job_.window(rank).epochs().fence(assertion, true, &one));
    }
    job_.run_until_idle();
    for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
  }

  SimJob job_;
  std::array<std::uint64_t, silent_words> values_{};
};

INSTANTIATE_TEST_SUITE_P(Networks, SilentTransfers, ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(SilentTransfers, PutsAndTheirFlushes) {
  open_lock_all();
  const Sent before = sent();
  for (const bool all : {false, true}) {
    for (std::uint64_t word = 1; word < 4; ++word) {
      put(word, 10 * word + (all ? 1 : 0));
      EXPECT_EQ(flush(all), delivered());
      EXPECT_EQ(load(word), values_[word]);
    }
  }
  const std::uint64_t asked = delivered() ? 0 : 6;
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
}

TEST_P(SilentTransfers, GetsAndTheirFlushes) {
  open_lock_all();
  const Sent before = sent();
  for (const bool all : {false, true}) {
    std::uint64_t got = 0;
    issue(origin(), get_of(5, got));
    EXPECT_TRUE(flush(all));
    EXPECT_EQ(got, 105u);
  }
  EXPECT_EQ(sent(), before);
}

TEST_P(SilentTransfers, RequestsForRemoteCompletion) {
  open_lock_all();
  const Sent before = sent();
  std::uint64_t value = 7;
  std::uint64_t got = 0;
  for (const bool get : {false, true}) {
    Operation operation = get ? get_of(3, got) : on_word(OperationKind::put, &value, 1, 24);
    PostedCall there;
    operation.completion = &there;
    operation.completes_there = true;
    there.take(origin().epochs().issue(operation));
    settle();
    EXPECT_EQ(there.done(), get || delivered());
    job_.run_until_idle();
    EXPECT_TRUE(there.done());
    EXPECT_EQ(load(3), 7u);
  }
  EXPECT_EQ(got, 7u);
  EXPECT_TRUE(flush());
  const std::uint64_t asked = delivered() ? 0 : 1;
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
}

TEST_P(SilentTransfers, StridedOnes) {
  open_lock_all();
  const Sent before = sent();
  const LayoutRef every_second(new Layout({{0, 8}}, 16, Basic::u64));
  std::array<std::uint64_t, 4> out{1, 2, 3, 4};
  std::array<std::uint64_t, 4> in{};
  Operation put = on_word(OperationKind::put, out.data(), 1);
  put.target_layout = every_second;
  put.target_count = put.origin.count = out.size();
  issue(origin(), put);
  EXPECT_EQ(flush(), delivered());
  Operation get = get_of(0, in[0]);
  get.target_layout = every_second;
  get.target_count = get.result.count = in.size();
  issue(origin(), get);
  EXPECT_TRUE(flush());
  EXPECT_EQ(in, out);
  EXPECT_EQ(load(1), 101u);
  const std::uint64_t asked = delivered() ? 0 : 1;
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
}

// Words, and what is longer than a message; at the target contiguous, in long runs, or in few.
TEST_P(SilentTransfers, OfEveryLength) {
  open_lock_all();
  const LayoutRef word(new Layout({{0, 8}}, 8, Basic::u64));
  const LayoutRef every_second(new Layout({{0, 8}}, 16, Basic::u64));
  const LayoutRef pages(new Layout({{0, 4096}}, 8192, Basic::u64));
  struct Shape {
    LayoutRef target;
    std::uint64_t count;
  };
  std::vector<std::uint64_t> out(silent_window_words);
  std::vector<std::uint64_t> in(silent_window_words);
  for (const Shape& shape : {Shape{word, 1}, Shape{word, 5}, Shape{word, silent_window_words},
                             Shape{every_second, 64}, Shape{pages, 3}, Shape{pages, 60}}) {
    const std::uint64_t words = shape.target->size() / 8 * shape.count;
    SCOPED_TRACE(words);
    for (std::uint64_t& value : out) ++value;
    std::ranges::fill(in, 0);
    const Sent before = sent();
    Operation put = on_word(OperationKind::put, out.data(), 1);
    put.target_layout = shape.target;
    put.target_count = shape.count;
    put.origin.count = words;
    issue(origin(), put);
    EXPECT_EQ(flush(), delivered());
    Operation get = get_of(0, in[0]);
    get.target_layout = shape.target;
    get.target_count = shape.count;
    get.result.count = words;
    issue(origin(), get);
    EXPECT_TRUE(flush());
    EXPECT_TRUE(std::ranges::equal(std::span(in).first(words), std::span(out).first(words)));
    const std::uint64_t asked = delivered() ? 0 : 1;
    EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
  }
}

// The unlock is the only message.
TEST_P(SilentTransfers, InALockEpoch) {
  ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
  acquire();
  const Sent before = sent();
  put(2, 9);
  EXPECT_EQ(flush(), delivered());
  std::uint64_t got = 0;
  issue(origin(), get_of(2, got));
  EXPECT_TRUE(flush());
  EXPECT_EQ(got, 9u);
  put(3, 11);
  PostedCall unlocked;
  unlocked.take(origin().unlock(1, &unlocked));
  // The unlock asks if writes are only ordered.
  const std::uint64_t asked = delivered() ? 0 : 1;
  EXPECT_EQ(sent().by_origin - before.by_origin, GetParam().ordered ? asked + 1 : 0);
  settle();
  EXPECT_EQ(unlocked.done(), delivered());
  job_.run_until_idle();
  EXPECT_TRUE(unlocked.done());
  EXPECT_EQ(load(3), 11u);
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked + 1, before.by_target + 2 * asked}));
}

// Its first operation asks whether the target has ended what was before.
TEST_P(SilentTransfers, WithoutALock) {
  ASSERT_EQ(origin().lock_all(no_check()), Error::none);
  acquire();
  const Sent before = sent();
  put(2, 9);
  EXPECT_EQ(flush(), delivered());
  const std::uint64_t asked = delivered() ? 0 : 1;
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
  EXPECT_TRUE(origin().unlock_all(nullptr).done);
  EXPECT_EQ(sent(), (Sent{before.by_origin + asked, before.by_target + asked}));
}

// On the simulated network the end of a write that is only ordered shows nothing about the target.
TEST_P(SilentTransfers, EndWhenTheirBytesAreThereIfDelivered) {
  open_lock_all();
  std::uint64_t got = 0;
  put(1, 9);
  issue(origin(), get_of(1, got));
  ASSERT_TRUE(job_.network().deliver({0, 1, !GetParam().ordered}));
  Transfer transfer;
  ASSERT_TRUE(job_.network().finished(0, transfer));
  EXPECT_EQ(transfer.bytes, 8u);
  EXPECT_EQ(load(1), delivered() ? 9u : 101u);
  // The bytes and the next transfer arrive together.
  ASSERT_TRUE(job_.network().deliver({0, 1, !GetParam().ordered}));
  EXPECT_EQ(load(1), 9u);
  EXPECT_EQ(got, 9u);
  job_.network().repeat_report(0);
  job_.run_until_idle();
}

// Neither that they were messages nor which thread has issued them.
TEST_P(SilentTransfers, AnEpochKnowsNothingOfOperationsOfTheLastOne) {
  for (const bool fences : {false, true}) {
    if (fences) {
      fence();
    } else {
      ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
    }
    for (const int word : {1, 2, 3}) issue_of(a_thread, OperationKind::put, 8 * word);
    PostedCall closed;
    fences ? fence(no_succeed()) : finish(closed, origin().unlock(1, &closed));
    ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
    issue_of(other_thread, OperationKind::accumulate, 0);
    EXPECT_FALSE(flush(false, other_thread));
    const Sent before = sent();
    issue_of(a_thread, OperationKind::put, 8);
    settle();
    EXPECT_EQ(flush(false, a_thread), delivered());
    EXPECT_EQ(sent().by_origin - before.by_origin, delivered() ? 0u : 1u);
    PostedCall unlocked;
    finish(unlocked, origin().unlock(1, &unlocked));
  }
}

// The answer arrives before the origin has seen the end of the write.
TEST_P(SilentTransfers, AnAnswerToAFlushCompletesRequests) {
  open_lock_all();
  const Sent before = sent();
  std::uint64_t value = 7;
  Operation operation = on_word(OperationKind::put, &value, 1, 24);
  PostedCall there;
  operation.completion = &there;
  operation.completes_there = true;
  there.take(origin().epochs().issue(operation));
  issue_of(all_threads, OperationKind::accumulate, 8);
  PostedCall flushed;
  flushed.take(origin().epochs().flush(1, false, &flushed));
  for (const int rank : {0, 1}) {
    for (const SimNetwork::Route& route : job_.network().under_way()) {
      while (job_.network().deliver(route)) {
      }
    }
    job_.process(1 - rank).sweep();
  }
  EXPECT_TRUE(flushed.done());
  EXPECT_TRUE(there.done());
  job_.run_until_idle();
  EXPECT_EQ(sent(), (Sent{before.by_origin + 2, before.by_target + 1}));
}

TEST_P(SilentTransfers, WaitWhileTheirRouteIsCongested) {
  open_lock_all();
  job_.network().set_congesting(1);
  const Sent before = sent();
  for (int i = 0; i < 2; ++i) {
    issue_of(all_threads, OperationKind::accumulate, 8);
    put(2, 9);
    job_.process(0).sweep();
    EXPECT_EQ(sent().by_origin - before.by_origin, 1u);
    while (job_.network().deliver({0, 1, true})) {
    }
  }
  EXPECT_FALSE(flush());
  EXPECT_EQ(load(1), 101u + 2 * 5u);
  EXPECT_EQ(load(2), 9u);
}

TEST_P(SilentTransfers, FlushesOfAThread) {
  open_lock_all();
  issue_of(other_thread, OperationKind::accumulate, 0);
  const Sent before = sent();
  issue_of(a_thread, OperationKind::put, 8);
  settle();
  PostedCall flushed;
  flushed.take(origin().epochs().flush(1, false, &flushed, a_thread));
  settle();
  EXPECT_EQ(flushed.done(), delivered()) << "the other thread's message has no answer";
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(load(1), 5u);
  EXPECT_EQ(sent().by_origin - before.by_origin, delivered() ? 0u : 1u);
  EXPECT_FALSE(flush(false, other_thread)) << "its message needs an answer";
  EXPECT_EQ(load(0), 1u + 5u);
}

// They are of an earlier epoch, and known for all threads together.
TEST_P(SilentTransfers, AFlushOfAThreadCoversWeakUnlocks) {
  ASSERT_EQ(origin().lock(true, 1, weak_unlock()), Error::none);
  issue_of(a_thread, OperationKind::accumulate, 8);
  PostedCall unlocked;
  unlocked.take(origin().unlock(1, &unlocked));
  ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
  PostedCall flushed;
  flushed.take(origin().epochs().flush(1, false, &flushed, a_thread));
  EXPECT_FALSE(flushed.done());
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_TRUE(unlocked.done());
  EXPECT_EQ(load(1), 101u + 5u);
}

TEST_P(SilentTransfers, AFlushOfAThreadReportsFailures) {
  open_lock_all();
  job_.network().set_failing(true);
  issue_of(a_thread, OperationKind::put, 8);
  settle();
  job_.network().set_failing(false);
  EXPECT_EQ(
      error_of(job_,
               [&](Completion* done) { return origin().epochs().flush(1, false, done, a_thread); }),
      Error::system);
}

TEST_P(SilentTransfers, AFlushOfAThreadAsksOnce) {
  open_lock_all();
  for (const bool by_all : {false, true}) {
    issue_of(a_thread, OperationKind::accumulate, 0);
    EXPECT_FALSE(flush(false, by_all ? all_threads : a_thread));
    const Sent before = sent();
    issue_of(a_thread, OperationKind::put, 8);
    settle();
    EXPECT_EQ(flush(false, a_thread), delivered());
    EXPECT_EQ(sent().by_origin - before.by_origin, delivered() ? 0u : 1u);
  }
}

// The second one is of a thread with the same bit.
TEST_P(SilentTransfers, FlushesOfFurtherThreads) {
  open_lock_all();
  issue_of(further_threads, OperationKind::accumulate, 0);
  std::array<PostedCall, 2> flushed;
  for (PostedCall& one : flushed) {
    one.take(origin().epochs().flush(1, false, &one, further_threads));
    settle();
    EXPECT_FALSE(one.done());
  }
  job_.run_until_idle();
  for (const PostedCall& one : flushed) EXPECT_TRUE(one.done());
}

TEST_P(SilentTransfers, AReplyIsOfEarlierOperationsOnly) {
  open_lock_all();
  std::uint64_t value = 5;
  std::uint64_t got = 0;
  Operation fetch = on_word(OperationKind::accumulate, &value, 1, 0);
  fetch.kind = OperationKind::get_accumulate;
  fetch.result = fetch.origin;
  fetch.result.address = &got;
  fetch.thread = a_thread;
  issue(origin(), fetch);
  job_.process(0).sweep();
  ASSERT_TRUE(job_.network().deliver({0, 1}));
  job_.process(1).sweep();
  issue_of(a_thread, OperationKind::accumulate, 8);
  ASSERT_TRUE(job_.network().deliver({1, 0}));
  job_.process(0).sweep();
  EXPECT_EQ(got, 1u);
  EXPECT_FALSE(flush(false, a_thread));
  EXPECT_EQ(load(1), 101u + 5u);
}

// The message's question is the only one.
TEST_P(SilentTransfers, BesideMessages) {
  open_lock_all();
  const Sent before = sent();
  std::uint64_t value = 5;
  issue(origin(), on_word(OperationKind::accumulate, &value, 1, 0));
  put(1, 6);
  EXPECT_FALSE(flush());
  EXPECT_EQ(load(0), 1u + 5u);
  EXPECT_EQ(load(1), 6u);
  EXPECT_EQ(sent(), (Sent{before.by_origin + 2, before.by_target + 1}));
}

// A message has the bytes and the notification of a short put. A longer put is a write with
// immediate data, once the target knows the notification. If no message can follow a write at once,
// a message with the bytes is there earlier.
TEST_P(SilentTransfers, NotifiedPuts) {
  open_lock_all();
  std::vector<std::uint64_t> out(limits().notified / 8 + 1);
  NotifyRequest all(NotifyPattern{0, 3}, 4);
  job_.window(1).notifications().start(all);
  for (const bool is_short : {true, false}) {
    const auto notify = [&](std::uint64_t value) {
      out.assign(out.size(), value);
      Operation operation = on_word(OperationKind::put, out.data(), 1);
      operation.target_count = operation.origin.count = out.size() - (is_short ? 1 : 0);
      operation.notify_arg = {NotifyKind::tag, 3, is_short ? std::uint64_t{8} : std::uint64_t{16}};
      issue(origin(), operation);
      job_.run_until_idle();
    };
    flush();  // no message is unanswered
    notify(5);
    flush();
    const Sent before = sent();
    const std::uint64_t named = job_.transport(0).named();
    EXPECT_FALSE(all.complete());
    notify(6);
    EXPECT_EQ(load(0), 6u);
    EXPECT_EQ(load(out.size() - (is_short ? 2 : 1)), 6u);
    const bool writes = !is_short && GetParam().ordered;
    EXPECT_EQ(sent().by_origin - before.by_origin, writes ? 0u : 1u);
    EXPECT_EQ(job_.transport(0).named() - named, writes ? 1u : 0u);
  }
  EXPECT_TRUE(all.complete());
}

// A transfer would wait for the grant.
TEST_P(SilentTransfers, AShortPutTravelsWithTheLockRequest) {
  ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
  put(1, 5);
  PostedCall unlocked;
  unlocked.take(origin().unlock(1, &unlocked));
  EXPECT_EQ(sent(), (Sent{3, 0})) << "lock, put, unlock";
  job_.run_until_idle();
  EXPECT_TRUE(unlocked.done());
  EXPECT_EQ(load(1), 5u);
}

// The lock is granted between the two, and the target has not taken the put.
TEST_P(SilentTransfers, AGetDoesNotOvertakeAPutThatIsAMessage) {
  ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
  put(0, 4);
  job_.process(0).sweep();
  ASSERT_TRUE(job_.network().deliver({0, 1}));
  job_.process(1).sweep();
  put(1, 5);
  job_.process(0).sweep();
  ASSERT_TRUE(job_.network().deliver({1, 0}));
  job_.process(0).sweep();
  std::uint64_t got = 0;
  issue(origin(), get_of(1, got));
  settle();
  EXPECT_EQ(load(1), 101u);
  EXPECT_FALSE(flush());
  EXPECT_EQ(load(1), 5u);
  EXPECT_EQ(got, 5u);
  const Sent before = sent();
  put(1, 6);
  EXPECT_EQ(flush(), delivered()) << "the target has answered";
  EXPECT_EQ(sent().by_origin - before.by_origin, delivered() ? 0u : 1u);
}

TEST_P(SilentTransfers, KeepTheirOrderWhenTheNetworkHasRefusedOne) {
  open_lock_all();
  const std::uint64_t longest = job_.network().longest_transfer();
  job_.network().set_longest_transfer(0);
  put(1, 5);
  EXPECT_TRUE(job_.network().under_way().empty());
  job_.network().set_longest_transfer(longest);
  put(2, 6);
  EXPECT_TRUE(job_.network().under_way().empty() || load(2) != 6u);
  for (int i = 0; i < 4 && load(1) != 5u; ++i) {
    job_.process(0).sweep();
    for (const SimNetwork::Route& route : job_.network().under_way()) {
      job_.network().deliver(route);
      EXPECT_TRUE(load(1) == 5u || load(2) != 6u) << "the second one is first";
    }
  }
  EXPECT_EQ(flush(), delivered());
  EXPECT_EQ(load(1), 5u);
  EXPECT_EQ(load(2), 6u);
}

TEST_P(SilentTransfers, AreNotBegunOnACongestedRoute) {
  open_lock_all();
  job_.network().set_congesting(0);
  put(1, 5);
  job_.process(0).sweep();
  EXPECT_TRUE(job_.network().under_way().empty());
  job_.network().set_congesting(8);
  EXPECT_EQ(flush(), delivered());
  EXPECT_EQ(load(1), 5u);
}

// Found by every later flush, also on its hot path.
TEST_P(SilentTransfers, NothingIsLeftToFlush) {
  open_lock_all();
  put(1, 6);
  EXPECT_EQ(flush(true), delivered());
  EXPECT_TRUE(origin().epochs().flush_all(false, nullptr).done);
  EXPECT_TRUE(origin().pending().all_flushed());
  put(1, 7);
  EXPECT_FALSE(origin().pending().all_flushed());
  EXPECT_EQ(flush(true), delivered());
  EXPECT_EQ(load(1), 7u);
}

TEST_P(SilentTransfers, ThatFail) {
  open_lock_all();
  std::uint64_t got = 0;
  for (const bool get : {false, true}) {
    get ? issue(origin(), get_of(1, got)) : put(1, 5);
    job_.network().set_failing(true);
    EXPECT_EQ(
        error_of(job_, [&](Completion* done) { return origin().epochs().flush(1, false, done); }),
        Error::system);
    job_.network().set_failing(false);
  }
  put(1, 5);
  EXPECT_EQ(flush(), delivered());
  put(1, 6);
  job_.network().set_failing(true);
  EXPECT_EQ(error_of(job_, [&](Completion* done) { return origin().unlock_all(done); }),
            Error::system);
}

// Marks and counts of a fence: one of each as before, behind the writes that they can follow.
TEST_P(SilentTransfers, AFenceEndsThem) {
  fence();
  std::vector<std::uint64_t> out(silent_window_words / 2, 5);
  std::vector<std::uint64_t> in(silent_window_words / 2);
  Operation long_put = on_word(OperationKind::put, out.data(), 1);
  long_put.target_count = long_put.origin.count = out.size();
  Operation long_get = get_of(silent_window_words / 2, in[0]);
  long_get.target_count = long_get.result.count = in.size();
  store(silent_window_words / 2, 102);
  Sent before = sent();
  issue(origin(), long_put);
  issue(origin(), long_get);
  fence();
  EXPECT_EQ(load(out.size() - 1), 5u);
  EXPECT_EQ(in[0], 102u);
  EXPECT_EQ(sent(), (Sent{before.by_origin + 3, before.by_target + 2}))
      << "is the target available, the mark, a step of the count; its answer and step";
  // No transfer, no mark.
  before = sent();
  long_put.target_count = long_put.origin.count = 0;
  issue(origin(), long_put);
  fence();
  EXPECT_EQ(sent(), (Sent{before.by_origin + 1, before.by_target + 1}));
}

/// The network copies writes of one word when they begin.
class CopiedWrites : public SilentTransfers {
 protected:
  CopiedWrites() { job_.network().set_longest_copied(8); }
  /// A local flush: true if it has nothing to wait for.
  bool flush_locally(PostedCall& flushed, bool all = false, ThreadSet threads = all_threads) {
    Epochs& epochs = origin().epochs();
    const Outcome outcome =
        all ? epochs.flush_all(true, &flushed, threads) : epochs.flush(1, true, &flushed, threads);
    EXPECT_EQ(outcome.error, Error::none);
    flushed.take(outcome);
    return outcome.done;
  }
  /// The oldest transfer ends.
  void end_one() {
    ASSERT_TRUE(job_.network().deliver({0, 1, !GetParam().ordered}));
    job_.process(0).sweep();
  }
  /// A put of every second word.
  void put_strided(std::uint64_t words, ThreadSet thread = all_threads) {
    Operation put = on_word(OperationKind::put, values_.data(), 1);
    put.thread = thread;
    put.target_layout = LayoutRef(new Layout({{0, 8}}, 16, Basic::u64));
    put.target_count = put.origin.count = words;
    issue(origin(), put);
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, CopiedWrites, ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(CopiedWrites, AreCompleteLocallyAtOnce) {
  open_lock_all();
  for (const bool all : {false, true}) {
    const std::uint64_t value = all ? 7 : 6;
    put(1, value);
    PostedCall local;
    EXPECT_TRUE(flush_locally(local, all));
    values_[1] = 0;
    EXPECT_NE(load(1), value);
    EXPECT_FALSE(origin().pending().all_flushed());
    EXPECT_FALSE(origin().nothing_pending(1, false));
    EXPECT_EQ(flush(all), delivered());
    EXPECT_EQ(load(1), value);
  }
}

TEST_P(CopiedWrites, ALocalFlushWaitsForWhatIsNotCopied) {
  open_lock_all();
  put_strided(2);
  put(5, 6);
  std::array<PostedCall, 2> local;
  EXPECT_FALSE(flush_locally(local[0]));
  std::uint64_t got = 0;
  issue(origin(), get_of(6, got));
  EXPECT_FALSE(flush_locally(local[1]));
  end_one();
  EXPECT_TRUE(local[0].done());
  end_one();
  EXPECT_FALSE(local[1].done());
  EXPECT_EQ(got, 0u);
  end_one();
  EXPECT_TRUE(local[1].done());
  EXPECT_EQ(got, 106u);
}

// The network takes two runs at a time.
TEST_P(CopiedWrites, InParts) {
  open_lock_all();
  for (const bool copied : {false, true}) {
    job_.network().set_longest_copied(copied ? 16 : 8);
    put_strided(3);
    PostedCall local;
    EXPECT_EQ(flush_locally(local), copied);
    settle();
    EXPECT_TRUE(local.done());
  }
}

TEST_P(CopiedWrites, OfAThread) {
  open_lock_all();
  issue_of(a_thread, OperationKind::put, 8);
  put_strided(2, other_thread);
  PostedCall local;
  EXPECT_FALSE(flush_locally(local, false, other_thread));
  for (const bool all : {false, true}) {
    PostedCall none;
    EXPECT_TRUE(flush_locally(none, all, a_thread));
  }
  PostedCall flushed;
  flushed.take(origin().epochs().flush(1, false, &flushed, a_thread));
  EXPECT_FALSE(flushed.done());
  end_one();
  EXPECT_FALSE(local.done());
  end_one();
  EXPECT_TRUE(local.done());
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
}

TEST_P(CopiedWrites, Requests) {
  open_lock_all();
  for (const bool there : {false, true}) {
    std::uint64_t value = there ? 8 : 7;
    Operation operation = on_word(OperationKind::put, &value, 1, 24);
    PostedCall request;
    operation.completion = &request;
    operation.completes_there = there;
    const Outcome outcome = origin().epochs().issue(operation);
    EXPECT_EQ(outcome.done, !there);
    request.take(outcome);
    settle();
    EXPECT_EQ(request.done(), !there || delivered());
    job_.run_until_idle();
    EXPECT_TRUE(request.done());
    EXPECT_EQ(load(3), there ? 8u : 7u);
    EXPECT_TRUE(flush() || !delivered());
  }
}

// Recorded until the target is available.
TEST_P(CopiedWrites, ARequestIsCompleteWhenTheWriteBegins) {
  ASSERT_EQ(origin().lock_all({}), Error::none);
  job_.network().set_longest_copied(silent_window_words);
  std::vector<std::uint64_t> out(silent_window_words / 8, 5);
  Operation operation = on_word(OperationKind::put, out.data(), 1);
  operation.target_count = operation.origin.count = out.size();
  PostedCall request;
  operation.completion = &request;
  request.take(origin().epochs().issue(operation));
  EXPECT_FALSE(request.done());
  job_.process(0).sweep();
  ASSERT_TRUE(job_.network().deliver({0, 1}));
  job_.process(1).sweep();
  ASSERT_TRUE(job_.network().deliver({1, 0}));
  job_.process(0).sweep();
  EXPECT_TRUE(request.done());
  out.assign(out.size(), 0);
  EXPECT_NE(load(out.size() - 1), 5u);
  EXPECT_EQ(flush(), delivered());
  EXPECT_EQ(load(out.size() - 1), 5u);
}

// The flush or the closing call reports it, and the local flush before it cannot.
TEST_P(CopiedWrites, ThatFail) {
  open_lock_all();
  for (const bool closes : {false, true}) {
    put(1, 5);
    PostedCall local;
    EXPECT_TRUE(flush_locally(local));
    job_.network().set_failing(true);
    EXPECT_EQ(error_of(job_,
                       [&](Completion* done) {
                         return closes ? origin().unlock_all(done)
                                       : origin().epochs().flush(1, false, done);
                       }),
              Error::system);
    job_.network().set_failing(false);
  }
}

// A local flush does not cover copied writes, also if their failure is known before the flush.
TEST_P(CopiedWrites, ThatHaveFailedAreLeftToWhatCoversThem) {
  const auto flush_fully = [&](bool all, ThreadSet threads) {
    return error_of(job_, [&](Completion* done) {
      return all ? origin().epochs().flush_all(false, done, threads)
                 : origin().epochs().flush(1, false, done, threads);
    });
  };
  const auto put_in_vain = [&] {
    issue_of(a_thread, OperationKind::put, 8);
    job_.network().set_failing(true);
    settle();
    job_.network().set_failing(false);
  };
  for (const bool closes : {true, false}) {
    open_lock_all();
    for (const bool all : {false, true}) {
      for (const ThreadSet threads : {a_thread, all_threads}) {
        put_in_vain();
        PostedCall local;
        EXPECT_TRUE(flush_locally(local, all, threads));
        EXPECT_FALSE(origin().pending().all_flushed());
        if (closes) continue;
        EXPECT_EQ(flush_fully(all, threads), Error::system);
        EXPECT_EQ(flush_fully(all, threads), Error::none);
      }
    }
    EXPECT_EQ(error_of(job_, [&](Completion* done) { return origin().unlock_all(done); }),
              closes ? Error::system : Error::none);
  }
}

// A local flush waits for another operation meanwhile.
TEST_P(CopiedWrites, ThatFailBesideALocalFlush) {
  open_lock_all();
  put(5, 6);
  put_strided(2);
  PostedCall local;
  EXPECT_FALSE(flush_locally(local));
  job_.network().fail_one_after(0);
  end_one();
  EXPECT_FALSE(local.done());
  end_one();
  EXPECT_TRUE(local.done());
  EXPECT_EQ(
      error_of(job_, [&](Completion* done) { return origin().epochs().flush(1, false, done); }),
      Error::system);
}

TEST_P(CopiedWrites, ThatFailBesideALocalFlushAreReportedByTheOtherOne) {
  open_lock_all();
  put(5, 6);
  put_strided(2);
  PostedCall local;
  EXPECT_FALSE(flush_locally(local));
  Flag full;
  ASSERT_FALSE(origin().epochs().flush(1, false, &full).done);
  job_.network().fail_one_after(0);
  job_.run_until_idle();
  EXPECT_TRUE(local.done());
  ASSERT_TRUE(full.done());
  EXPECT_EQ(full.error(), Error::system);
  EXPECT_EQ(
      error_of(job_, [&](Completion* done) { return origin().epochs().flush(1, false, done); }),
      Error::none);
}

TEST_P(CopiedWrites, TheirTargetIsAwaited) {
  open_lock_all();
  EXPECT_TRUE(origin().epochs().awaited().empty());
  put(1, 5);
  EXPECT_EQ(origin().epochs().awaited().size(), 1u);
  job_.run_until_idle();
  EXPECT_TRUE(origin().epochs().awaited().empty());
}

/// Once their epoch is closed, transfers have two words at most.
class CopiedFragments : public SilentTransfers {
 protected:
  CopiedFragments() : SilentTransfers(fragments()) { job_.network().set_longest_copied(8); }
  static Limits fragments() {
    Limits short_ones = limits();
    short_ones.direct = 0;
    short_ones.direct_fragment = 16;
    return short_ones;
  }
  /// Issues the put, posts a local flush and the unlock, and calls fail() before any part of the
  /// put is transferred. The flush reports the failure, and nobody reports it again.
  template <typename Fail>
  void fail_behind_a_flush(const Operation& put, Fail&& fail) {
    ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
    issue(origin(), put);
    Flag local;
    ASSERT_FALSE(origin().epochs().flush(1, true, &local).done);
    Flag unlocked;
    ASSERT_FALSE(origin().unlock(1, &unlocked).done);
    job_.process(0).sweep();
    ASSERT_TRUE(job_.network().deliver({0, 1}));
    job_.process(1).sweep();
    ASSERT_TRUE(job_.network().deliver({1, 0}));
    fail();
    for (int i = 0; i < 50 && !local.done(); ++i) settle();
    job_.run_until_idle();
    ASSERT_TRUE(local.done());
    ASSERT_TRUE(unlocked.done());
    EXPECT_EQ(local.error(), Error::system);
    EXPECT_EQ(unlocked.error(), Error::none) << "reported once";
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, CopiedFragments, ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

// Their length lets them wait for their ends, behind which they would notify.
TEST_P(CopiedFragments, ThatFailNotifyNobody) {
  open_lock_all();
  std::uint64_t got = 0;
  Operation get = get_of(1, got);
  get.notify_arg = {NotifyKind::tag, 3, 8};
  issue(origin(), get);
  job_.network().set_failing(true);
  EXPECT_EQ(
      error_of(job_, [&](Completion* done) { return origin().epochs().flush(1, false, done); }),
      Error::system);
  EXPECT_EQ(job_.window(1).notifications().find_kept({0, 3}), nullptr);
}

// The hot path of a flush does not report the error.
TEST_P(CopiedFragments, ThatFailInTheNotifiedEpoch) {
  Operation notified = on_word(OperationKind::put, values_.data(), 1, 8);
  notified.notify_arg = {NotifyKind::tag, 3, 8};
  issue(origin(), notified);
  job_.network().set_failing(true);
  settle();
  job_.network().set_failing(false);
  const auto flush_there = [&](bool local) {
    return error_of(job_,
                    [&](Completion* done) { return origin().epochs().flush(1, local, done); });
  };
  EXPECT_EQ(flush_there(true), Error::none);
  EXPECT_FALSE(origin().nothing_pending(1, false));
  EXPECT_EQ(flush_there(false), Error::system);
  EXPECT_TRUE(origin().nothing_pending(1, false));
}

// The last fragment is copied, and the first is not.
TEST_P(CopiedFragments, UseOriginMemoryUntilAllHaveEnded) {
  ASSERT_EQ(origin().lock(true, 1, {}), Error::none);
  Operation operation = on_word(OperationKind::put, values_.data(), 1);
  operation.target_count = operation.origin.count = 3;
  PostedCall request;
  operation.completion = &request;
  request.take(origin().epochs().issue(operation));
  PostedCall unlocked;
  unlocked.take(origin().unlock(1, &unlocked));
  job_.process(0).sweep();
  ASSERT_TRUE(job_.network().deliver({0, 1}));
  job_.process(1).sweep();
  ASSERT_TRUE(job_.network().deliver({1, 0}));
  for (int i = 0; i < 3; ++i) job_.process(0).sweep();
  EXPECT_FALSE(request.done());
  job_.run_until_idle();
  EXPECT_TRUE(request.done());
  EXPECT_TRUE(unlocked.done());
}

// The first fragment is copied and fails before the rest is sent, which is not copied. So the local
// flush waits for the put, and is the first call that can report its failure.
TEST_P(CopiedFragments, AFailureOfACopiedPartIsReportedByTheLocalFlushThatWaits) {
  const std::array<std::uint64_t, 4> out{1, 2, 3, 4};
  Operation operation = on_word(OperationKind::put, out.data(), 1);
  operation.target_layout = LayoutRef(new Layout({{0, 4}, {8, 4}, {16, 24}}, 64, Basic::u64));
  operation.origin.count = 4;
  fail_behind_a_flush(operation, [&] { job_.network().fail_one_after(0); });
}

TEST_P(CopiedFragments, FailuresOfSeveralPartsAreReportedOnce) {
  const std::array<std::uint64_t, 2> out{1, 2};
  Operation operation = on_word(OperationKind::put, out.data(), 1);
  operation.target_layout =
      LayoutRef(new Layout({{0, 4}, {8, 4}, {16, 4}, {24, 4}}, 32, Basic::u64));
  operation.origin.count = 2;
  fail_behind_a_flush(operation, [&] { job_.network().set_failing(true); });
}

}  // namespace
}  // namespace oriel::test
