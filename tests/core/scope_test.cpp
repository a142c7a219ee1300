// SPDX-License-Identifier: BSD-3-Clause
// Flushes of thread scope (Q1): what the thread has issued is there when one is over, whatever is
// under way of others, for which it need not wait.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t long_words = 64;  // of a put that goes as a direct transfer
constexpr std::uint64_t part = 128;       // words of each thread
constexpr int own_bits = 2;               // of the threads

struct ScopeSetting {
  const char* name = "";
  std::vector<int> nodes;
  SimNetwork::Writes writes = {};
  Path path = Path::load_store;
};

void PrintTo(const ScopeSetting& setting, std::ostream* out) {
  *out << setting.name;
}

/// `every_length`: a card carries direct transfers out.
Limits limits(bool every_length) {
  Limits limits;
  if (every_length) limits.set_by_card(true);
  limits.direct = 8 * long_words - 1;
  limits.direct_run = 0;
  return limits;
}

/// A job whose rank 0 has several threads that put to rank 1.
class Job {
 public:
  Job(const ScopeSetting& setting, int threads, bool every_length = false)
      : job(setting.nodes, false, limits(every_length)) {
    job.network().set_writes(setting.writes);
    SimWindowSpec spec;
    spec.bytes = 8 * part * static_cast<std::uint64_t>(threads);
    spec.memory.assign(setting.nodes.size(), setting.path);
    spec.direct = true;
    job.create_window(spec);
    EXPECT_EQ(window().lock_all({}), Error::none);
  }
  Window& window() { return job.window(0); }

  SimJob job;
};

/// One of these threads: its words hold the values that it has put last.
class Putter {
 public:
  Putter(Job& job, int number) : job_(job), number_(number), values_(part), sent_(part) {}

  /// The first ones have their own, the others have one together.
  ThreadSet bit() const { return number_ < own_bits ? ThreadSet{1} << number_ : further_threads; }
  void put(bool long_one) {
    // The buffers of operations under way are left alone.
    if (long_one) {
      put(0, long_words);
    } else {
      put(long_words + next_++ % long_words, 1);
    }
  }
  void flush(bool all_targets = false) {
    posted_ = Flag();
    expected_ = sent_;
    flushing_ = true;
    Epochs& epochs = job_.window().epochs();
    const Outcome outcome = all_targets ? epochs.flush_all(false, &posted_, bit())
                                        : epochs.flush(1, false, &posted_, bit());
    EXPECT_EQ(outcome.error, Error::none);
    if (outcome.done) over();
  }
  /// Whether a local flush has nothing to wait for; else it is over some time.
  bool flush_locally(bool all_targets, Flag& posted) {
    Epochs& epochs = job_.window().epochs();
    const Outcome outcome = all_targets ? epochs.flush_all(true, &posted, bit())
                                        : epochs.flush(1, true, &posted, bit());
    EXPECT_EQ(outcome.error, Error::none);
    return outcome.done;
  }
  /// Whether a flush is under way; looks at what it has promised when it is over.
  bool flushing() {
    if (flushing_ && posted_.done()) over();
    return flushing_;
  }

 private:
  void put(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      // A value that is put again while the one before it is under way says nothing.
      if (values_[i] == sent_[i] && !flushed_since_[i]) continue;
      ++values_[i];
      flushed_since_[i] = false;
    }
    Operation operation = on_word(OperationKind::put, values_.data() + first, 1, place(first));
    operation.target_count = operation.origin.count = count;
    operation.thread = bit();
    issue(job_.window(), operation);
    for (std::uint64_t i = first; i < first + count; ++i) sent_[i] = values_[i];
  }
  void over() {
    flushing_ = false;
    number_ % 2 == 0 ? job_.window().pending().mark_flushed(bit(), 1)
                     : job_.window().epochs().mark_flushed(bit());
    for (std::uint64_t i = 0; i < part; ++i) {
      std::uint64_t there = 0;
      std::memcpy(&there, job_.job.memory(1) + place(i), sizeof there);
      EXPECT_EQ(there, expected_[i]) << "thread " << number_ << ", word " << i;
    }
    flushed_since_.fill(true);
  }
  std::int64_t place(std::uint64_t word) const {
    return static_cast<std::int64_t>(8 * (static_cast<std::uint64_t>(number_) * part + word));
  }

  Job& job_;
  int number_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> values_;    // origin buffers
  std::vector<std::uint64_t> sent_;      // what has been put last
  std::vector<std::uint64_t> expected_;  // by the flush that is under way
  std::array<bool, part> flushed_since_ = all_true();
  Flag posted_;
  bool flushing_ = false;

  static std::array<bool, part> all_true() {
    std::array<bool, part> all;
    all.fill(true);
    return all;
  }
};

class Scope : public ::testing::TestWithParam<ScopeSetting> {};

TEST_P(Scope, AFlushCoversItsThread) {
  constexpr int threads = own_bits + 2;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Job job(GetParam(), threads, random.chance(50));
    std::vector<Putter> putters;
    for (int thread = 0; thread < threads; ++thread) putters.emplace_back(job, thread);
    for (int turn = 0; turn < 120; ++turn) {
      Putter& putter = putters[static_cast<std::size_t>(random.below(threads))];
      if (!putter.flushing()) {
        random.chance(70) ? putter.put(random.chance(30)) : putter.flush(random.chance(50));
      }
      for (int i = random.below(4); i > 0; --i) {
        const auto routes = job.job.network().under_way();
        if (!routes.empty() && random.chance(60)) {
          job.job.network().deliver(random.pick(routes));
        } else {
          job.job.process(random.below(2)).sweep();
        }
      }
    }
    job.job.run_until_idle();
    for (Putter& putter : putters) ASSERT_FALSE(putter.flushing()) << "seed " << seed;
    PostedCall closed;
    closed.take(job.window().unlock_all(&closed));
    job.job.run_until_idle();
    ASSERT_TRUE(closed.done()) << "seed " << seed;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Links, Scope,
                         ::testing::Values(ScopeSetting{"Ordered", {0, 1}},
                                           ScopeSetting{
                                               "Delivered", {0, 1}, SimNetwork::delivered_writes},
                                           ScopeSetting{"Card", {0, 1}, SimNetwork::card_writes},
                                           ScopeSetting{"Mapped", {0, 0}},
                                           ScopeSetting{"Private", {0, 0}, {}, Path::system_call}),
                         [](const auto& one) { return std::string(one.param.name); });

// The network carries out updates on a mapped target, too.
TEST(MappedTarget, AFlushDoesNotWaitForUpdatesOfOtherThreads) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 16;
  spec.atomics = {bit(Basic::u64), every_op};
  job.create_window(spec);
  Epochs& epochs = job.window(0).epochs();
  ASSERT_EQ(job.window(0).lock_all({}), Error::none);
  std::uint64_t value = 1;
  for (const ThreadSet thread : {1, 2}) {
    Operation update = on_word(OperationKind::accumulate, &value, 1, thread == 1 ? 0 : 8);
    update.thread = thread;
    issue(job.window(0), update);
    if (thread == 1) job.run_until_idle();
  }
  PostedCall other;
  other.take(epochs.flush(1, false, &other, 2));
  EXPECT_FALSE(other.done());
  EXPECT_TRUE(epochs.flush(1, false, nullptr, 1).done);
  job.run_until_idle();
  EXPECT_TRUE(other.done());
}

class OtherNode : public ::testing::Test {
 protected:
  /// All packets arrive, and no direct transfer.
  void let_messages_arrive() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& route : job_.job.network().under_way()) {
        if (!route.transfers) moved |= job_.job.network().deliver(route);
      }
      for (int rank = 0; rank < 2; ++rank) moved |= job_.job.process(rank).sweep();
    }
  }

  Job job_{ScopeSetting{"", {0, 1}, SimNetwork::delivered_writes}, 2};
  Putter one_{job_, 0};
  Putter other_{job_, 1};
};

TEST_F(OtherNode, AFlushDoesNotWaitForOtherThreads) {
  one_.put(false);
  one_.flush();
  job_.job.run_until_idle();
  ASSERT_FALSE(one_.flushing());
  other_.put(true);
  one_.flush();
  EXPECT_FALSE(one_.flushing()) << "nothing of its own is outstanding";
  one_.put(false);
  one_.flush();
  EXPECT_TRUE(one_.flushing());
  let_messages_arrive();
  EXPECT_FALSE(one_.flushing()) << "only the other's transfer is under way";
  Flag process;
  EXPECT_FALSE(job_.window().epochs().flush(1, false, &process).done);
  let_messages_arrive();
  EXPECT_FALSE(process.done()) << "all threads' operations";
  other_.flush();
  let_messages_arrive();
  EXPECT_TRUE(other_.flushing());
  job_.job.run_until_idle();
  EXPECT_TRUE(process.done());
  EXPECT_FALSE(other_.flushing());
}

// Nor do a flush of all targets and the local ones.
TEST_F(OtherNode, NoKindOfFlushWaitsForOtherThreads) {
  one_.put(false);
  one_.flush();
  job_.job.run_until_idle();
  ASSERT_FALSE(one_.flushing());
  other_.put(true);
  Flag posted;
  for (const bool all_targets : {false, true}) {
    EXPECT_TRUE(one_.flush_locally(all_targets, posted));
    one_.flush(all_targets);
    EXPECT_FALSE(one_.flushing()) << "nothing of its own is outstanding";
    one_.put(false);
    EXPECT_TRUE(one_.flush_locally(all_targets, posted))
        << "sent, and only the other's is under way";
    one_.flush(all_targets);
    EXPECT_TRUE(one_.flushing());
    let_messages_arrive();
    EXPECT_FALSE(one_.flushing()) << "only the other's transfer is under way";
  }
  Flag local;
  EXPECT_FALSE(other_.flush_locally(true, local)) << "its own transfer";
  Flag process;
  EXPECT_FALSE(job_.window().epochs().flush_all(false, &process).done);
  let_messages_arrive();
  EXPECT_FALSE(process.done()) << "all threads' operations";
  EXPECT_FALSE(local.done());
  job_.job.run_until_idle();
  EXPECT_TRUE(process.done());
  EXPECT_TRUE(local.done());
}

// Its finding says nothing of other threads' operations.
TEST_F(OtherNode, AFlushOfAThreadIsNotOneOfAll) {
  other_.put(false);
  one_.flush(true);
  EXPECT_FALSE(one_.flushing());
  EXPECT_FALSE(job_.window().pending().all_flushed());
  job_.job.run_until_idle();
}

// Fetches are not counted by thread: a local flush waits for all threads'.
TEST_F(OtherNode, ALocalFlushWaitsForFetchedData) {
  std::uint64_t got = 5;
  Operation get = on_word(OperationKind::get, nullptr, 1);
  std::swap(get.origin, get.result);
  get.result.address = &got;
  get.thread = one_.bit();
  issue(job_.window(), get);
  Flag posted;
  EXPECT_FALSE(one_.flush_locally(false, posted));
  job_.job.run_until_idle();
  EXPECT_TRUE(posted.done());
  EXPECT_EQ(got, 0u);
}

// A thread that waits for its answer alone is a reason to look after the peer.
TEST_F(OtherNode, ALostPeerIsLookedFor) {
  one_.put(false);
  one_.flush();
  job_.job.run_until_idle();
  one_.put(false);
  EXPECT_TRUE(job_.window().epochs().awaited().empty()) << "nothing but the flush waits";
  one_.flush();
  EXPECT_TRUE(one_.flushing());
  EXPECT_EQ(job_.window().epochs().awaited().size(), 1u);
  job_.job.transport(0).set_ended(1);
  EXPECT_EQ(job_.window().epochs().lost_peer(), 1);
}

}  // namespace
}  // namespace oriel::test
