// SPDX-License-Identifier: BSD-3-Clause
// Long puts and gets of dynamic windows and memory handles between nodes: the target looks for the
// memory and moves the bytes itself, so that nothing is touched that is not attached then.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/notify/matcher.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::size_t memory_words = 16;
using Words = std::array<std::uint64_t, memory_words>;

/// Three ranks on nodes of their own, the memory of each attached in two pieces. What is longer
/// than two words goes by a rendezvous, in pieces of four. The parameter: what the
/// network promises of writes.
class RendezvousTest : public ::testing::TestWithParam<SimNetwork::Writes> {
 protected:
  RendezvousTest() {
    job_.network().set_writes(GetParam());
    SimWindowSpec spec;
    spec.bytes = sizeof(Words);
    spec.pieces = 2;
    spec.direct = true;
    job_.create_window(spec);
    for (std::size_t i = 0; i < memory_words; ++i) mine_[i] = 100 + i;
  }
  static Limits limits() {
    Limits limits;
    limits.fragment = 16;
    limits.direct = 16;
    limits.direct_fragment = 32;
    return limits;
  }
  Window& window(int rank = 0) { return job_.window(rank); }
  std::int64_t place(std::uint64_t byte) { return job_.displacement(1, 0, byte); }
  /// Of so many words at the front of `mine_`.
  Operation operation(OperationKind kind, std::int64_t displacement,
                      std::uint64_t count = memory_words) {
    Operation made = on_word(kind, mine_.data(), 1, displacement);
    made.target_count = made.origin.count = count;
    if (kind == OperationKind::get) made.result = std::exchange(made.origin, {});
    return made;
  }
  Words theirs() {
    Words found;
    std::memcpy(found.data(), job_.memory(1), sizeof found);
    return found;
  }
  void set_theirs(std::uint64_t first) {
    Words values;
    for (std::size_t i = 0; i < memory_words; ++i) values[i] = first + i;
    std::memcpy(job_.memory(1), values.data(), sizeof values);
  }
  Error flush(bool local = false) {
    return error_of(job_,
                    [&](Completion* done) { return window().epochs().flush(1, local, done); });
  }
  Error outcome(const Operation& operation) {
    const Outcome issued = window().epochs().issue(operation);
    return issued.error != Error::none ? issued.error : flush();
  }
  std::uint64_t sent(int rank) { return job_.transport(rank).messages_sent(); }
  /// All that the rank has sent or begun arrives: how much.
  int deliver_from(int rank) {
    int arrived = 0;
    for (const SimNetwork::Route& route : job_.network().under_way()) {
      while (route.from == rank && job_.network().deliver(route)) ++arrived;
    }
    return arrived;
  }

  SimJob job_{std::vector<int>{0, 1, 2}, false, limits()};
  Words mine_{};
};

TEST_P(RendezvousTest, MovesALongPutAndALongGet) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const Words values = mine_;
  EXPECT_EQ(outcome(operation(OperationKind::put, place(0))), Error::none);
  EXPECT_EQ(theirs(), values);
  mine_ = {};
  EXPECT_EQ(outcome(operation(OperationKind::get, place(0))), Error::none);
  EXPECT_EQ(mine_, values);
  EXPECT_EQ(job_.network().registrations_made(), 2U);
  EXPECT_EQ(job_.network().registered(), 0U);
}

// The request and its end: no question besides.
TEST_P(RendezvousTest, IsOneMessageEachWay) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const std::uint64_t word = 1;
  ASSERT_EQ(outcome(on_word(OperationKind::put, &word, 1, place(0))), Error::none);
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    const std::uint64_t before = sent(0);
    const std::uint64_t before_there = sent(1);
    EXPECT_EQ(outcome(operation(kind, place(0))), Error::none);
    EXPECT_EQ(sent(0) - before, 1U);
    EXPECT_EQ(sent(1) - before_there, 1U);
  }
}

TEST_P(RendezvousTest, IsForLongOperationsInOneRunOnly) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  EXPECT_EQ(outcome(operation(OperationKind::put, place(0), 2)), Error::none);
  EXPECT_EQ(outcome(operation(OperationKind::get, place(0), 2)), Error::none);
  const LayoutRef gaps(new Layout({{0, 8}, {16, 8}, {32, 8}}, 40, Basic::u64));
  Operation scattered = operation(OperationKind::put, place(0), 1);
  scattered.target_layout = gaps;
  scattered.origin.count = 3;
  EXPECT_EQ(outcome(scattered), Error::none);
  Operation gathered = operation(OperationKind::put, place(0), 3);
  gathered.origin.layout = gaps;
  gathered.origin.count = 1;
  EXPECT_EQ(outcome(gathered), Error::none);
  Operation ordered = operation(OperationKind::put, place(0));
  ordered.ordered = true;
  EXPECT_EQ(outcome(ordered), Error::none);
  EXPECT_EQ(job_.network().registrations_made(), 0U);
}

// What the network does not take goes by messages.
TEST_P(RendezvousTest, LendsNoMoreThanTheNetworkTakes) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  set_theirs(500);
  constexpr std::size_t many = SimNetwork::most_registered + 3;
  std::array<Words, many> got{};
  for (Words& one : got) {
    Operation get = operation(OperationKind::get, place(0));
    get.result.address = one.data();
    issue(window(), get);
  }
  EXPECT_EQ(job_.network().registered(), SimNetwork::most_registered);
  EXPECT_EQ(flush(true), Error::none);
  for (const Words& one : got) EXPECT_EQ(one, theirs());
  EXPECT_EQ(job_.network().registered(), 0U);
}

TEST_P(RendezvousTest, RefusesWhatIsNotAttached) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  ASSERT_EQ(window(1).detach(static_cast<std::uint64_t>(place(sizeof(Words) / 2))), Error::none);
  window(1).forget_detached();
  const Words before = mine_;
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    for (const std::int64_t where : {place(0), place(8), place(0) - 8, std::int64_t{8}, -8L}) {
      EXPECT_EQ(outcome(operation(kind, where)), Error::range) << where;
    }
    EXPECT_EQ(flush(), Error::none) << "told once";
  }
  EXPECT_EQ(theirs(), Words{}) << "nothing of what is attached in part";
  EXPECT_EQ(mine_, before);
  EXPECT_EQ(job_.network().registered(), 0U);
}

TEST_P(RendezvousTest, FindsWhatHasBeenAttachedAgain) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const auto address = static_cast<std::uint64_t>(place(0));
  constexpr std::uint64_t half = sizeof(Words) / 2;
  const Operation put = operation(OperationKind::put, place(0), memory_words / 2);
  EXPECT_EQ(outcome(put), Error::none);
  ASSERT_EQ(window(1).detach(address), Error::none);
  for (const bool gone : {true, false}) {
    job_.transport(1).set_unmapped(gone);
    EXPECT_EQ(outcome(put), gone ? Error::range : Error::none);
  }
  window(1).forget_detached();
  set_theirs(0);
  const Words before = theirs();
  EXPECT_EQ(outcome(put), Error::range);
  EXPECT_EQ(theirs(), before);
  ASSERT_EQ(window(1).attach({address, half, {}}), Error::none);
  EXPECT_EQ(outcome(put), Error::none);
  EXPECT_EQ(theirs()[memory_words / 2 - 1], mine_[memory_words / 2 - 1]);
}

// The program may unmap detached memory while the network moves the data.
TEST_P(RendezvousTest, RefusesDetachedMemoryThatIsUnmappedMeanwhile) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  ASSERT_EQ(window(1).detach(static_cast<std::uint64_t>(place(0))), Error::none);
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    job_.transport(1).unmap_soon();
    EXPECT_EQ(outcome(operation(kind, place(0), memory_words / 2)), Error::range);
    job_.transport(1).set_unmapped(false);
    EXPECT_EQ(outcome(operation(kind, place(0), memory_words / 2)), Error::none);
  }
  EXPECT_EQ(job_.network().registered(), 0U);
}

TEST_P(RendezvousTest, GoesByMemoryHandles) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  Words memory{};
  const MemoryRange piece{reinterpret_cast<std::uintptr_t>(memory.data()), sizeof memory, {}};
  HandleName name;
  ASSERT_EQ(window(1).create_handle(piece, name), Error::none);
  const auto on_handle = [&](OperationKind kind, std::int64_t byte, std::uint64_t count) {
    Operation made = operation(kind, byte, count);
    made.handle = name;
    return made;
  };
  EXPECT_EQ(outcome(on_handle(OperationKind::put, 8, memory_words - 1)), Error::none);
  EXPECT_EQ(memory[0], 0U);
  EXPECT_TRUE(std::equal(memory.begin() + 1, memory.end(), mine_.begin()));
  EXPECT_EQ(outcome(on_handle(OperationKind::get, 0, memory_words)), Error::none);
  EXPECT_EQ(mine_, memory);
  for (const std::int64_t byte : {8L, -8L, std::int64_t{1} << 62}) {
    EXPECT_EQ(outcome(on_handle(OperationKind::put, byte, memory_words)), Error::range) << byte;
  }
  EXPECT_EQ(job_.network().registrations_made(), 5U);
  // The same memory and the same slot, but another handle.
  ASSERT_EQ(window(1).release_handle(name), Error::none);
  HandleName next;
  ASSERT_EQ(window(1).create_handle(piece, next), Error::none);
  ASSERT_EQ(next.slot, name.slot);
  memory = {};
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    EXPECT_EQ(outcome(on_handle(kind, 0, memory_words)), Error::range);
  }
  EXPECT_EQ(memory, Words{});
  name = next;
  EXPECT_EQ(outcome(on_handle(OperationKind::put, 0, memory_words)), Error::none);
  EXPECT_EQ(memory, mine_);
}

// A put is about what is attached when its epoch has come, and the target holds it back until then.
TEST_P(RendezvousTest, WaitsForThePost) {
  const auto address = static_cast<std::uint64_t>(place(0));
  ASSERT_EQ(window(1).detach(address), Error::none);
  window(1).forget_detached();
  const std::array<int, 1> target{1};
  const std::array<int, 1> origin{0};
  ASSERT_EQ(window().epochs().start(target, {}), Error::none);
  issue(window(), operation(OperationKind::put, place(0)));
  PostedCall completed;
  completed.take(window().epochs().complete(&completed));
  job_.run_until_idle();
  EXPECT_FALSE(completed.done());
  EXPECT_EQ(job_.network().registered(), 1U) << "the buffer is not the program's yet";
  ASSERT_EQ(window(1).attach({address, sizeof(Words) / 2, {}}), Error::none);
  ASSERT_EQ(window(1).epochs().post(origin, {}), Error::none);
  PostedCall waited;
  waited.take(window(1).epochs().wait(&waited));
  job_.run_until_idle();
  EXPECT_TRUE(completed.done() && waited.done());
  EXPECT_EQ(theirs(), mine_);
}

// Neither the fence nor the complete of its epoch is over before it, nor does the target go on.
TEST_P(RendezvousTest, IsOverBeforeTheTargetGoesOn) {
  std::deque<PostedCall> posted;
  const auto fence = [&] {
    for (int rank = 0; rank < 3; ++rank) {
      PostedCall& one = posted.emplace_back();
      one.take(window(rank).epochs().fence({}, true, &one));
    }
  };
  fence();
  job_.run_until_idle();
  issue(window(), operation(OperationKind::put, place(0)));
  fence();
  while (!posted.back().done()) {
    ASSERT_TRUE(job_.round());
    if (posted[4].done()) {
      ASSERT_EQ(theirs(), mine_);
    }
  }
  job_.run_until_idle();
  EXPECT_EQ(theirs(), mine_);
  for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
}

TEST_P(RendezvousTest, IsOverBeforeTheLockIsGivenBack) {
  for (const Assert& assertion : {Assert{}, weak_unlock()}) {
    set_theirs(0);
    ASSERT_EQ(window().lock(true, 1, assertion), Error::none);
    issue(window(), operation(OperationKind::put, place(0)));
    PostedCall unlocked;
    unlocked.take(window().unlock(1, &unlocked));
    job_.process(0).transport().messages().push();
    deliver_from(0);
    job_.process(1).sweep();
    ASSERT_EQ(window(2).lock(true, 1, {}), Error::none);
    for (int i = 0; i < 100 && !window(2).epochs().try_hold_lock(1); ++i) {
      job_.process(2).transport().messages().push();
      job_.round();
    }
    ASSERT_TRUE(window(2).epochs().try_hold_lock(1));
    EXPECT_EQ(theirs(), mine_);
    PostedCall second;
    second.take(window(2).unlock(1, &second));
    job_.run_until_idle();
    EXPECT_TRUE(unlocked.done() && second.done());
  }
}

// One piece in a sweep: whoever else wants something is served in between.
TEST_P(RendezvousTest, GoesPieceByPiece) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const std::uint64_t word = 1;
  ASSERT_EQ(outcome(on_word(OperationKind::put, &word, 1, place(0))), Error::none);
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    issue(window(), operation(kind, place(0)));
    job_.process(0).transport().messages().push();
    EXPECT_EQ(deliver_from(0), 1);
    for (std::size_t piece = 0; piece < memory_words / 4; ++piece) {
      job_.process(1).sweep();
      EXPECT_EQ(deliver_from(1), 1);
    }
    EXPECT_EQ(flush(), Error::none);
  }
}

TEST_P(RendezvousTest, AFlushOfEitherKindAwaitsIt) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  for (const bool local : {false, true}) {
    issue(window(), operation(OperationKind::put, place(0)));
    EXPECT_FALSE(window().flushed(1, local));
    PostedCall flushed;
    flushed.take(window().epochs().flush(1, local, &flushed));
    EXPECT_FALSE(flushed.done());
    job_.run_until_idle();
    EXPECT_TRUE(flushed.done());
  }
}

// Its end says nothing of what was issued before it.
TEST_P(RendezvousTest, TellsOfItselfAlone) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const std::uint64_t word = 1;
  issue(window(), on_word(OperationKind::put, &word, 1, 8));
  Flag put;
  Operation longer = operation(OperationKind::put, place(0));
  longer.completion = &put;
  longer.completes_there = true;
  EXPECT_FALSE(window().epochs().issue(longer).done);
  job_.process(0).transport().messages().push();
  job_.run_until_idle();
  EXPECT_TRUE(put.done());
  EXPECT_EQ(put.error(), Error::none);
  EXPECT_EQ(theirs(), mine_);
  EXPECT_EQ(flush(), Error::range) << "the short one's";
  EXPECT_EQ(flush(), Error::none);
}

TEST_P(RendezvousTest, ItsRequestTellsOfItsFailure) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  for (const bool there : {false, true}) {
    Flag put;
    Operation longer = operation(OperationKind::put, 8);
    longer.completion = &put;
    longer.completes_there = there;
    EXPECT_FALSE(window().epochs().issue(longer).done);
    job_.process(0).transport().messages().push();
    job_.run_until_idle();
    EXPECT_TRUE(put.done());
    EXPECT_EQ(put.error(), Error::range);
    EXPECT_EQ(flush(), Error::range);
  }
}

TEST_P(RendezvousTest, ReportsAFailedTransferOnce) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  issue(window(), operation(OperationKind::put, place(0)));
  job_.network().set_failing(true);
  EXPECT_EQ(flush(), Error::system);
  job_.network().set_failing(false);
  EXPECT_EQ(flush(), Error::none);
  EXPECT_EQ(job_.network().registered(), 0U);
  EXPECT_EQ(outcome(operation(OperationKind::put, place(0))), Error::none);
  EXPECT_EQ(theirs(), mine_);
}

TEST_P(RendezvousTest, NotifiesWhenItIsOver) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  for (const OperationKind kind : {OperationKind::put, OperationKind::get}) {
    set_theirs(700);
    NotifyRequest request(NotifyPattern{0, 3}, 1);
    window(1).notifications().start(request);
    Operation notified = operation(kind, place(0));
    notified.notify_arg = {NotifyKind::tag, 3, sizeof(Words)};
    issue(window(), notified);
    job_.process(0).transport().messages().push();
    for (int i = 0; i < 100 && !request.complete(); ++i) {
      job_.round();
      if (request.complete()) {
        EXPECT_EQ(mine_, theirs());
      }
    }
    EXPECT_TRUE(request.complete());
    EXPECT_EQ(flush(), Error::none);
    // One that is refused notifies nobody.
    window(1).notifications().start(request);
    notified.displacement = 8;
    EXPECT_EQ(outcome(notified), Error::range);
    EXPECT_FALSE(request.complete());
    window(1).notifications().stop(request);
  }
}

TEST_P(RendezvousTest, WaitsForItsTargetAsLongAsThatLives) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  const std::uint64_t word = 1;
  ASSERT_EQ(outcome(on_word(OperationKind::put, &word, 1, place(0))), Error::none);
  issue(window(), operation(OperationKind::get, place(0)));
  EXPECT_EQ(window().epochs().lost_peer(), -1);
  EXPECT_EQ(job_.transport(0).collect_asked(), std::set<int>{1});
  job_.transport(0).set_ended(1);
  EXPECT_EQ(window().epochs().lost_peer(), 1);
}

// Whoever ends the window takes back what it has lent, and knows nothing of transfers that are
// still under way.
TEST_P(RendezvousTest, EndsWithItsWindow) {
  SimWindowSpec another;
  another.bytes = 8;
  job_.create_window(another);  // for which the processes go on
  ASSERT_EQ(window().lock_all({}), Error::none);
  issue(window(), operation(OperationKind::put, place(0)));
  job_.process(0).sweep();
  deliver_from(0);
  job_.process(1).sweep();
  job_.process(1).destroy_window(window(1));
  EXPECT_EQ(job_.network().registered(), 1U);
  job_.process(0).destroy_window(window(0));
  EXPECT_EQ(job_.network().registered(), 0U);
  const std::uint64_t before = sent(1);
  job_.run_until_idle();
  EXPECT_EQ(sent(1), before) << "the end of what nobody waits for";
}

// Rank 1 is the test, which ends what waits for an earlier epoch, and is refused.
TEST_P(RendezvousTest, IsNotEndedBeforeItIsAskedFor) {
  const std::array<int, 1> target{1};
  const std::array<int, 1> origin{0};
  std::deque<PostedCall> posted;
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{memory_words}}) {
    ASSERT_EQ(window().epochs().start(target, {}), Error::none);
    issue(window(), operation(OperationKind::get, place(0), count));
    PostedCall& completed = posted.emplace_back();
    completed.take(window().epochs().complete(&completed));
  }
  Message end;
  end.kind = MessageKind::reply;
  end.origin = 1;
  int accepted = 0;
  for (std::uint64_t use = 1; use < 8; ++use) {
    for (std::uint64_t index = 0; index < 8; ++index) {
      end.word = use << 32 | index;
      accepted += window().deliver(end, {}) ? 1 : 0;
    }
  }
  EXPECT_EQ(accepted, 1) << "the question of the first epoch";
  EXPECT_EQ(job_.network().registered(), 1U);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(window(1).epochs().post(origin, {}), Error::none);
    PostedCall& waited = posted.emplace_back();
    waited.take(window(1).epochs().wait(&waited));
  }
  job_.run_until_idle();
  for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
  EXPECT_EQ(mine_, theirs());
}

// Rank 1 is the test: it ends a rendezvous wrongly, and twice.
TEST_P(RendezvousTest, IsEndedOnce) {
  ASSERT_EQ(window().lock_all(no_check()), Error::none);
  issue(window(), operation(OperationKind::put, place(0)));
  EXPECT_FALSE(window().epochs().flush(1, false, nullptr).done);
  deliver_from(0);
  Message asked;
  for (auto bytes = job_.transport(1).receive(); !bytes.empty();
       bytes = job_.transport(1).receive()) {
    Message message;
    if (message.read_header(bytes) && message.kind == MessageKind::rendezvous) asked = message;
  }
  ASSERT_EQ(asked.kind, MessageKind::rendezvous);
  EXPECT_EQ(asked.count, sizeof(Words));
  Message end;
  end.kind = MessageKind::reply;
  end.origin = 1;
  end.word = asked.word;
  end.fetched = 8;
  EXPECT_FALSE(window().deliver(end, {}));
  end.fetched = 0;
  end.origin = 2;
  EXPECT_FALSE(window().deliver(end, {})) << "of another rank's";
  end.origin = 1;
  EXPECT_TRUE(window().deliver(end, {}));
  EXPECT_FALSE(window().deliver(end, {}));
  EXPECT_EQ(job_.network().registered(), 0U);
}

TEST_P(RendezvousTest, IsRefusedWhereItMeansNothing) {
  const RemoteMemory registered{};
  const auto bytes = std::as_bytes(std::span(&registered, 1));
  Message good;
  good.kind = MessageKind::rendezvous;
  good.gate = Gate::open;
  good.operation = OperationKind::get;
  good.origin = 0;
  good.count = 64;
  good.data = sizeof registered;
  const auto refused = [&](auto&& change, std::span<const std::byte> payload) {
    Message bad = good;
    change(bad);
    return !window(1).deliver(bad, payload);
  };
  EXPECT_TRUE(refused([](Message& bad) { bad.gate = Gate::none; }, bytes));
  EXPECT_TRUE(refused([](Message& bad) { bad.operation = OperationKind::accumulate; }, bytes));
  EXPECT_TRUE(refused([](Message& bad) { bad.count = 0; }, bytes));
  EXPECT_TRUE(refused([](Message& bad) { bad.layout = 1; }, bytes));
  EXPECT_TRUE(refused([](Message& bad) { bad.first = 8; }, bytes));
  EXPECT_TRUE(refused([](Message& bad) { bad.data = 8; }, bytes));
  EXPECT_TRUE(refused([](Message&) {}, bytes.first(8)));
  EXPECT_TRUE(refused([](Message&) {}, {}));
  EXPECT_FALSE(refused([](Message&) {}, bytes)) << "it is answered";
  good.count = ~std::uint64_t{0};
  EXPECT_FALSE(refused([](Message&) {}, bytes)) << "as a range error";
  job_.run_until_idle();
}

// The network has no way there.
TEST(NoRendezvous, WhereThereAreNoTransfers) {
  Limits limits;
  limits.fragment = limits.direct = 8;
  SimJob job({0, 1}, false, limits);
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.pieces = 1;
  job.create_window(spec);
  ASSERT_EQ(job.window(0).lock_all({}), Error::none);
  std::array<std::uint64_t, 8> values{1, 2, 3, 4, 5, 6, 7, 8};
  Operation put = on_word(OperationKind::put, values.data(), 1, job.displacement(1, 0, 0));
  put.target_count = put.origin.count = values.size();
  issue(job.window(0), put);
  PostedCall flushed;
  flushed.take(job.window(0).epochs().flush(1, false, &flushed));
  job.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(std::memcmp(job.memory(1), values.data(), sizeof values), 0);
  EXPECT_EQ(job.network().registrations_made(), 0U);
  Message message;
  message.kind = MessageKind::rendezvous;
  message.gate = Gate::open;
  message.operation = OperationKind::get;
  message.count = 64;
  const RemoteMemory registered{};
  message.data = sizeof registered;
  EXPECT_FALSE(job.window(1).deliver(message, std::as_bytes(std::span(&registered, 1))));
}

INSTANTIATE_TEST_SUITE_P(Networks, RendezvousTest, ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace oriel::test
