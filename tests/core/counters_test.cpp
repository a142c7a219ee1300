// SPDX-License-Identifier: BSD-3-Clause
// Notification counters between simulated ranks (N8): every operation once, behind its data; resets
// that lose nothing; thresholds.
#include "core/notify/counters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/epoch/events.hpp"
#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Cell = std::uint64_t;

Operation counted(Operation operation, std::int32_t counter) {
  operation.notify_arg = {NotifyKind::counter, counter, 0};
  return operation;
}

/// A job whose ranks have so many counters each.
class CountedJob {
 public:
  /// `sink`: is told of all that rank 1 does; null: nobody is.
  CountedJob(const std::vector<int>& nodes, const SimWindowSpec& spec, std::uint32_t counters,
             bool threads = false, const Limits& limits = {}, EventSink* sink = nullptr)
      : job_(nodes, threads, limits) {
    if (sink != nullptr) job_.process(1).events().add(*sink, HotPaths::operations);
    job_.create_window(spec);
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      memory_.emplace_back(std::make_unique<Counter[]>(counters));
    }
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      std::vector<CounterRow> rows;
      for (int other = 0; other < job_.ranks(); ++other) {
        const bool mapped = job_.window(rank).member(other).control != nullptr;
        rows.push_back(
            {mapped ? memory_[static_cast<std::size_t>(other)].get() : nullptr, counters});
      }
      job_.window(rank).notifications().counters() = Counters(rank, std::move(rows), nullptr);
    }
  }

  SimJob& job() { return job_; }
  Counter& counter(int rank, std::int32_t index) {
    return job_.window(rank).notifications().counters().mine_at(index);
  }

 private:
  std::vector<std::unique_ptr<Counter[]>> memory_;
  SimJob job_;
};

struct CounterPlacement {
  const char* name;
  std::vector<int> nodes;
  std::vector<Path> memory;
  bool direct = false;
  bool atomics = false;

  /// Of one origin each takes effect behind the one before it.
  bool ordered() const { return !direct && !atomics; }
};

std::ostream& operator<<(std::ostream& out, const CounterPlacement& node_map) {
  return out << node_map.name;
}

/// Each rank adds to each other one's counters: one for each source, behind data of its own, and
/// one for all, which its owner resets all the time.
class Adders {
 public:
  static constexpr int each = 30;
  static constexpr std::uint64_t longest = 10;  // cells of one operation

  Adders(std::uint64_t seed, const CounterPlacement& node_map, bool threads)
      : node_map_(node_map),
        ranks_(static_cast<int>(node_map.nodes.size())),
        counted_(node_map.nodes, window(node_map),
                 static_cast<std::uint32_t>(node_map.nodes.size()) + 1, threads,
                 limits(seed % 2 == 0)) {
    counted_.job().network().set_writes(
        SimNetwork::all_writes[seed % SimNetwork::all_writes.size()]);
    for (int rank = 0; rank < ranks_; ++rank) players_.emplace_back(*this, rank, seed);
  }

  SimJob& job() { return counted_.job(); }
  bool over() const {
    for (const Player& player : players_) {
      if (!player.over()) return false;
    }
    return true;
  }
  void act(int rank) { players_[static_cast<std::size_t>(rank)].act(); }
  bool over(int rank) const { return players_[static_cast<std::size_t>(rank)].over(); }

 private:
  class Player {
   public:
    Player(Adders& all, int rank, std::uint64_t seed)
        : all_(all),
          rank_(rank),
          random_(seed * 100 + static_cast<std::uint64_t>(rank)),
          sent_(static_cast<std::size_t>(all.ranks_)),
          seen_(static_cast<std::size_t>(all.ranks_)),
          values_(static_cast<std::size_t>(all.ranks_) * each * longest) {}

    void act() {
      random_.chance(50) ? send() : look();
      if (!all_.job().process(rank_).sweep()) std::this_thread::yield();
    }
    bool over() const {
      for (std::size_t other = 0; other < sent_.size(); ++other) {
        if (sent_[other] != each || seen_[other] != each) return false;
      }
      return summed_ == static_cast<std::uint64_t>(all_.ranks_) * each;
    }

   private:
    /// What source writes into the cells of its number'th operation to target.
    static Cell value(int source, int target, std::uint64_t number) {
      return static_cast<Cell>(source) * 1'000'000 + static_cast<Cell>(target) * 10'000 + number +
             1;
    }
    std::uint64_t first_cell(int source, std::uint64_t number) const {
      return (static_cast<std::uint64_t>(source) * each + number) * longest;
    }

    void send() {
      const int target = random_.below(all_.ranks_);
      std::uint64_t& number = sent_[static_cast<std::size_t>(target)];
      if (number == each) return;
      const std::uint64_t cell = first_cell(rank_, number);
      Cell* values = &values_[(static_cast<std::size_t>(target) * each + number) * longest];
      const std::uint64_t count = 1 + number % longest;
      std::fill_n(values, count, value(rank_, target, number));
      const bool put = random_.chance(50);
      Operation operation = on_word(put ? OperationKind::put : OperationKind::accumulate, values,
                                    target, static_cast<std::int64_t>(cell * sizeof(Cell)));
      operation.target_count = operation.origin.count = count;
      Window& window = all_.job().window(rank_);
      issue(window, counted(operation, rank_));
      Operation empty = on_word(OperationKind::put, values, target);
      empty.target_count = empty.origin.count = 0;
      issue(window, counted(empty, all_.ranks_));
      ++number;
    }

    void look() {
      const int source = random_.below(all_.ranks_);
      const std::uint64_t count = all_.counted_.counter(rank_, source).value();
      std::uint64_t& seen = seen_[static_cast<std::size_t>(source)];
      ASSERT_LE(count, static_cast<std::uint64_t>(each));
      ASSERT_GE(count, seen);
      if (all_.node_map_.ordered() || count == each) {
        const auto* cells = reinterpret_cast<const Cell*>(all_.job().memory(rank_));
        for (std::uint64_t number = seen; number < count; ++number) {
          for (std::uint64_t i = 0; i <= number % longest; ++i) {
            ASSERT_EQ(cells[first_cell(source, number) + i], value(source, rank_, number));
          }
        }
        seen = count;
      }
      summed_ += all_.counted_.counter(rank_, all_.ranks_).exchange(0);
    }

    Adders& all_;
    int rank_;
    Random random_;
    std::vector<std::uint64_t> sent_;  // by target
    std::vector<std::uint64_t> seen_;  // by source
    std::vector<Cell> values_;
    std::uint64_t summed_ = 0;
  };

  /// `every_length`: a card carries direct transfers out.
  static Limits limits(bool every_length) {
    Limits limits;
    if (every_length) limits.set_by_card(true);
    limits.fragment = 3 * sizeof(Cell);
    limits.direct = 6 * sizeof(Cell);
    limits.direct_run = sizeof(Cell);
    limits.direct_fragment = 4 * sizeof(Cell);
    return limits;
  }
  static SimWindowSpec window(const CounterPlacement& node_map) {
    SimWindowSpec spec;
    spec.bytes = node_map.nodes.size() * each * longest * sizeof(Cell);
    spec.memory = node_map.memory;
    spec.direct = node_map.direct;
    if (node_map.atomics) spec.atomics = {bit(Basic::u64), every_op};
    return spec;
  }

  CounterPlacement node_map_;
  int ranks_;
  CountedJob counted_;
  std::deque<Player> players_;
};

class RandomCounters : public ::testing::TestWithParam<CounterPlacement> {};

TEST_P(RandomCounters, EachAddsOnceBehindItsData) {
  const Seeds seeds = Seeds::from_environment(20);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Adders adders(seed, GetParam(), false);
    Random random(seed);
    for (int steps = 0; !adders.over(); ++steps) {
      ASSERT_LT(steps, 1'000'000) << "it does not end";
      const std::vector<SimNetwork::Route> routes = adders.job().network().under_way();
      if (!routes.empty() && random.chance(50)) {
        adders.job().network().deliver(random.pick(routes));
      } else {
        adders.act(random.below(adders.job().ranks()));
      }
      if (HasFatalFailure()) return;
    }
  }
}

// N4 under ThreadSanitizer.
TEST_P(RandomCounters, AlsoAsThreads) {
  Adders adders(1, GetParam(), true);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> over{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < adders.job().ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      bool reported = false;
      while (over < adders.job().ranks() && std::chrono::steady_clock::now() < deadline) {
        adders.act(rank);
        if (!reported && adders.over(rank)) {
          reported = true;
          ++over;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(adders.over()) << "it does not end";
}

INSTANTIATE_TEST_SUITE_P(Placements, RandomCounters,
                         ::testing::Values(CounterPlacement{"Mapped", {0, 0, 0}, {}},
                                           CounterPlacement{"Remote", {0, 1, 2}, {}},
                                           CounterPlacement{"Mixed", {0, 0, 1, 1}, {}},
                                           CounterPlacement{"Private",
                                                            {0, 0, 0},
                                                            {Path::system_call, Path::load_store,
                                                             Path::messages}},
                                           CounterPlacement{"Direct", {0, 0, 1}, {}, true},
                                           CounterPlacement{"Atomics", {0, 0, 1}, {}, false, true}),
                         [](const auto& node_map) { return std::string(node_map.param.name); });

class CountedPair : public ::testing::TestWithParam<std::vector<int>> {
 protected:
  static SimWindowSpec spec() {
    SimWindowSpec spec;
    spec.bytes = 64;
    return spec;
  }
  void add(std::int32_t counter) {
    issue(job().window(0), counted(on_word(OperationKind::put, &value_, 1), counter));
  }
  SimJob& job() { return counted_.job(); }
  /// What rank 1 waits for.
  Outcome await(std::int32_t counter, std::uint64_t value, Completion& completion) {
    return job().window(1).await(counter, value, completion);
  }

  CountedJob counted_{GetParam(), spec(), 2};
  std::uint64_t value_ = 5;
};

// A flush says that it has been added to.
TEST_P(CountedPair, AFlushCoversTheCounter) {
  add(1);
  PostedCall flushed;
  flushed.take(job().window(0).epochs().flush(1, false, &flushed));
  job().run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(counted_.counter(1, 1).value(), 1u);
  EXPECT_EQ(counted_.counter(1, 0).value(), 0u);
  EXPECT_TRUE(job().window(0).epochs().quiet());
}

// Who waits is looked after by every sweep, and by none once nobody waits.
TEST_P(CountedPair, ThresholdsAreToldOnce) {
  PostedCall first, second, other;
  EXPECT_TRUE(await(0, 0, first).done);
  EXPECT_EQ(job().process(1).pending(), 0u);
  EXPECT_FALSE(await(0, 2, second).done);
  EXPECT_FALSE(await(0, 1, first).done);
  EXPECT_FALSE(await(1, 1, other).done);
  EXPECT_TRUE(job().process(1).busy());
  job().run_until_idle();
  EXPECT_FALSE(first.done());
  add(0);
  job().run_until_idle();
  EXPECT_TRUE(first.done());
  EXPECT_FALSE(second.done() || other.done());
  add(0);
  job().run_until_idle();
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(other.done());
  add(1);
  job().run_until_idle();
  EXPECT_TRUE(other.done());
  EXPECT_EQ(job().process(1).pending(), 0u);
  EXPECT_TRUE(await(0, 2, first).done);
}

/// The counters that a process reports: index, growth.
struct Looks final : EventSink {
  void on(const Event& event, const EventSource&) override {
    if (event.kind != EventKind::notification_counted) return;
    counts.push_back({event.id, event.number});
  }
  std::vector<std::array<std::uint64_t, 2>> counts;
};

// A timeline has an arrow from each addition to the look that finds it.
TEST(LookedAtCounters, AreTold) {
  SimWindowSpec spec;
  spec.bytes = 64;
  Looks looks;
  CountedJob counted_job({0, 1}, spec, 2, false, {}, &looks);
  SimJob& job = counted_job.job();
  PostedCall waiter;
  EXPECT_FALSE(job.window(1).await(1, 1, waiter).done);
  job.run_until_idle();
  EXPECT_TRUE(looks.counts.empty());
  std::uint64_t value = 5;
  issue(job.window(0), counted(on_word(OperationKind::put, &value, 1), 1));
  job.run_until_idle();
  ASSERT_TRUE(waiter.done());
  EXPECT_TRUE(job.window(1).await(1, 1, waiter).done);
  job.window(1).exchange_counter(1, 5);
  EXPECT_EQ(looks.counts, (std::vector<std::array<std::uint64_t, 2>>{{1, 1}}));
  issue(job.window(0), counted(on_word(OperationKind::put, &value, 1), 1));
  issue(job.window(0), counted(on_word(OperationKind::put, &value, 1), 1));
  job.run_until_idle();
  EXPECT_TRUE(job.window(1).await(1, 7, waiter).done);
  EXPECT_EQ(looks.counts, (std::vector<std::array<std::uint64_t, 2>>{{1, 1}, {1, 2}}));
}

// Also who has not looked before the owner takes the value away.
TEST_P(CountedPair, AResetTellsThoseWhoHaveBeenReached) {
  PostedCall reached, other;
  EXPECT_FALSE(await(0, 2, reached).done);
  EXPECT_FALSE(await(0, 3, other).done);
  add(0);
  add(0);
  while (counted_.counter(1, 0).value() < 2) {
    for (const SimNetwork::Route& route : job().network().under_way())
      job().network().deliver(route);
    job().process(0).sweep();
    if (!job().same_node(0, 1)) job().process(1).sweep();
  }
  EXPECT_EQ(job().window(1).exchange_counter(0, 0), 2u);
  EXPECT_TRUE(reached.done());
  EXPECT_FALSE(other.done());
  EXPECT_EQ(job().process(1).pending(), 1u);
  for (int i = 0; i < 3; ++i) add(0);
  job().run_until_idle();
  EXPECT_TRUE(other.done());
}

// B2: where the counter goes, nobody waits for ever.
TEST_P(CountedPair, AThresholdGoesWithItsCounter) {
  Flag gone;
  EXPECT_FALSE(await(1, 1, gone).done);
  job().window(1).notifications().counters() = Counters();
  job().run_until_idle();
  EXPECT_TRUE(gone.done());
  EXPECT_EQ(gone.error(), Error::sync);
}

// Tags that find no space hold nobody up who adds to a counter.
TEST_P(CountedPair, AFullQueueOfTagsHoldsNoCounterUp) {
  for (int i = 0; i < 3 * static_cast<int>(SimNetwork::Notifications::most); ++i) {
    Operation tagged = on_word(OperationKind::put, &value_, 1);
    tagged.notify_arg = {NotifyKind::tag, i, 8};
    issue(job().window(0), tagged);
  }
  add(0);
  EXPECT_FALSE(job().window(0).put_notified(1, 8, &value_, 8, {NotifyKind::tag, 1, 0}));
  const bool mapped = job().same_node(0, 1);
  EXPECT_EQ(job().window(0).put_notified(1, 8, &value_, 8, {NotifyKind::counter, 0, 0}), mapped);
  EXPECT_EQ(counted_.counter(1, 0).value(), mapped ? 2u : 0u);
  job().run_until_idle();
  EXPECT_EQ(counted_.counter(1, 0).value(), mapped ? 2u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Placements, CountedPair,
                         ::testing::Values(std::vector<int>{0, 0}, std::vector<int>{0, 1}),
                         [](const auto& node_map) {
                           return std::string(node_map.param[1] == 0 ? "Mapped" : "Remote");
                         });

// Whoever sleeps is woken by an addition, and by a round of an exchange.
TEST(CountedWakes, TheSleeperIsRungFor) {
  SimWindowSpec spec;
  spec.bytes = 64;
  CountedJob both({0, 0}, spec, 1);
  SimJob& job = both.job();
  job.doorbell(1).sleeping = 1;
  const std::uint32_t before = job.doorbell(1).read_rings();
  const std::uint64_t value = 1;
  issue(job.window(0), counted(on_word(OperationKind::put, &value, 1), 0));
  EXPECT_EQ(job.doorbell(1).read_rings(), before + 1);
  job.doorbell(1).sleeping = 1;
  job.window(0).begin_exchange({});
  EXPECT_EQ(job.doorbell(1).read_rings(), before + 2);
}

// A message of somebody who names a counter that is not there is none of ours.
TEST(CountedMessages, AnIndexThatIsNotThereIsRefused) {
  SimWindowSpec spec;
  spec.bytes = 64;
  CountedJob counted({0, 1}, spec, 2);
  Message message;
  message.kind = MessageKind::notify;
  message.gate = Gate::open;
  message.origin = 1;
  message.notifies = NotifyKind::counter;
  message.notify_number = 1;
  EXPECT_TRUE(counted.job().window(0).deliver(message, {}));
  EXPECT_EQ(counted.counter(0, 1).value(), 1u);
  for (const std::int32_t index : {-1, 2}) {
    message.notify_number = index;
    EXPECT_FALSE(counted.job().window(0).deliver(message, {}));
  }
  message.notify_number = 0;
  message.notifies = NotifyKind{3};
  EXPECT_FALSE(counted.job().window(0).deliver(message, {}));
  EXPECT_EQ(counted.counter(0, 0).value(), 0u);
}

}  // namespace
}  // namespace oriel::test
