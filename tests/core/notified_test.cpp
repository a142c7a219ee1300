// SPDX-License-Identifier: BSD-3-Clause
// Notified operations between simulated ranks (N1, N3, N4): every notification once, in the order
// of its origin, with its data; push-back; what a flush covers; the dead.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/notify/counters.hpp"
#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Cell = std::uint64_t;

Operation notified(Operation operation, std::int32_t tag) {
  operation.notify_arg = {NotifyKind::tag, tag, operation.bytes()};
  return operation;
}

/// So many cells in a row, of the origin and of the target.
Operation on_cells(OperationKind kind, Cell* memory, int target, std::int64_t cell,
                   std::uint64_t count) {
  Operation operation = on_word(kind, memory, target, cell * std::int64_t{sizeof(Cell)});
  operation.target_count = operation.origin.count = count;
  if (fetches(kind)) {
    operation.result = operation.origin;
    operation.origin = {};
  }
  return operation;
}

/// How ranks reach one another, and how long operations go.
struct NotifiedPlacement {
  const char* name;
  std::vector<int> nodes;
  std::vector<Path> memory;        // by rank; empty: all mapped
  bool direct = false;             // long operations are direct transfers
  SimNetwork::Writes writes = {};  // of these
  bool atomics = false;            // accumulates are the network's
  std::uint64_t pieces = 0;        // not 0: a dynamic window, whose targets move what is long

  bool ordered() const { return !direct && !atomics; }
};

std::ostream& operator<<(std::ostream& out, const NotifiedPlacement& node_map) {
  return out << node_map.name;
}

std::vector<NotifiedPlacement> placements() {
  return {
      {"Mapped", {0, 0, 0}},
      {"Remote", {0, 1, 2}},
      {"Mixed", {0, 0, 1, 1}},
      {"Private", {0, 0, 0}, {Path::system_call, Path::load_store, Path::messages}},
      {"Direct", {0, 1}, {}, true},
      {"DirectCard", {0, 1, 1}, {}, true, SimNetwork::card_writes},
      {"DirectDelivered", {0, 0, 1}, {}, true, SimNetwork::delivered_writes},
      {"Atomics", {0, 0, 1}, {}, false, {}, true},
      {"Rendezvous", {0, 1, 1}, {}, true, {}, false, 5},
      {"RendezvousDelivered", {0, 1}, {}, true, SimNetwork::delivered_writes, false, 5},
  };
}

/// Each rank notifies each other one so often, each time with cells of their own, and listens by
/// requests of many patterns.
class NotifiedJob {
 public:
  static constexpr std::uint64_t longest = 12;  // cells of one operation
  static constexpr int few_tags = 3;

  NotifiedJob(std::uint64_t seed, const NotifiedPlacement& node_map, int each, bool threads)
      : node_map_(node_map),
        each_(each),
        threads_(threads),
        job_(node_map.nodes, threads, limits(seed % 2 == 0)) {
    job_.network().set_writes(node_map.writes);
    using ArrivalOrder = SimNetwork::ArrivalOrder;
    Random choice(seed);
    job_.network().set_immediate_data(
        choice.pick(std::vector<std::size_t>{0, 4, 8}),
        choice.pick(std::vector{ArrivalOrder::in_order, ArrivalOrder::immediate_first,
                                ArrivalOrder::immediate_last}));
    SimWindowSpec spec;
    spec.bytes = cells() * sizeof(Cell);
    spec.memory = node_map.memory;
    spec.direct = node_map.direct;
    spec.pieces = node_map.pieces;
    if (node_map.atomics) {
      spec.atomics = {bit(Basic::u64), every_op};
    }
    job_.create_window(spec);
    for (int rank = 0; rank < job_.ranks(); ++rank) players_.emplace_back(*this, rank, seed);
    for (Player& player : players_) player.plan();
  }

  bool over() const {
    return std::ranges::all_of(players_, [](const Player& player) { return player.over(); });
  }
  /// One rank does something, or something arrives.
  void step(Random& random) {
    const std::vector<SimNetwork::Route> routes = job_.network().under_way();
    if (!routes.empty() && random.chance(50)) {
      job_.network().deliver(random.pick(routes));
      return;
    }
    // One is away for a while, so that there is no space for what notifies it.
    if (random.chance(1)) away_ = random.below(job_.ranks());
    const int rank = random.below(job_.ranks());
    if (rank != away_ || random.chance(2)) player(rank).act();
  }
  void run_as_threads() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      threads.emplace_back([this, rank, deadline] {
        while (!over_ && std::chrono::steady_clock::now() < deadline) {
          player(rank).act();
          if (player(rank).over() && !player(rank).told) {
            player(rank).told = true;
            if (++ready_ == job_.ranks()) over_ = true;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(over_) << "it does not end";
  }
  void check() {
    for (Player& player : players_) player.finish();
    job_.run_until_idle();
    for (Player& player : players_) player.check();
  }
  /// Notifications that went as immediate data.
  std::uint64_t named() {
    std::uint64_t named = 0;
    for (int rank = 0; rank < job_.ranks(); ++rank) named += job_.transport(rank).named();
    return named;
  }

 private:
  /// One notified operation.
  struct Sent {
    OperationKind kind = OperationKind::put;
    std::int32_t tag = 0;
    std::int64_t cell = 0;  // the first at the target
    std::vector<Cell> values;
    std::vector<Cell> result;
  };

  class Player {
   public:
    Player(NotifiedJob& job, int rank, std::uint64_t seed)
        : job_(job), rank_(rank), random_(seed * 100 + static_cast<std::uint64_t>(rank)) {}

    /// What it sends is known to all before anybody runs.
    void plan() {
      constexpr std::array kinds{OperationKind::put, OperationKind::get, OperationKind::accumulate,
                                 OperationKind::get_accumulate};
      sent_.resize(static_cast<std::size_t>(job_.job_.ranks()));
      heard_.resize(sent_.size());
      for (int target = 0; target < job_.job_.ranks(); ++target) {
        for (int i = 0; i < job_.each_; ++i) {
          Sent& made = sent_[static_cast<std::size_t>(target)].emplace_back();
          made.kind = kinds[static_cast<std::size_t>(random_.below(4))];
          // Where order is not kept, only its tag says which one has come.
          made.tag = job_.node_map_.ordered() ? random_.below(few_tags) : i;
          made.cell = job_.first_cell(rank_, i);
          made.values.resize(static_cast<std::size_t>(random_.below(longest + 1)));
          for (Cell& value : made.values) value = random_.next();
          made.result.resize(made.values.size());
        }
        heard_[static_cast<std::size_t>(target)].resize(static_cast<std::size_t>(job_.each_));
        next_.push_back(0);
      }
      left_ = job_.each_ * job_.job_.ranks();
    }

    void act() {
      switch (random_.below(6)) {
        case 0:
        case 1:
          send();
          break;
        case 2:
        case 3:
          listen();
          break;
        case 4:
          if (random_.chance(20)) turn_lock();
          break;
        default:
          if (random_.chance(flushes_)) flush();
          break;
      }
      if (!job_.job_.process(rank_).sweep() && job_.threads_) std::this_thread::yield();
    }
    bool over() const { return left_ == 0 && unsent() == 0; }

    void finish() {
      if (locked_) unlock();
    }
    void check() {
      EXPECT_TRUE(closing_.empty() || closing_.back().done());
      PostedCall flushed;
      flushed.take(window().epochs().flush_notified(&flushed));
      job_.job_.run_until_idle();
      EXPECT_TRUE(flushed.done());
      EXPECT_TRUE(window().epochs().quiet());
      EXPECT_EQ(window().notifications().find_kept({any, any}), nullptr);
      // What was fetched is what the target held before.
      for (const std::vector<Sent>& all : sent_) {
        for (const Sent& one : all) {
          if (!fetches(one.kind)) continue;
          for (const Cell value : one.result) EXPECT_EQ(value, initial);
        }
      }
    }

    bool told = false;  // that it is over

   private:
    Window& window() { return job_.job_.window(rank_); }
    int unsent() const {
      int unsent = 0;
      for (const int next : next_) unsent += job_.each_ - next;
      return unsent;
    }

    void send() {
      // Those of one epoch may overtake those of another one that waits for its lock.
      if (!closing_.empty() && !closing_.back().done()) return;
      const int target = random_.below(static_cast<int>(sent_.size()));
      int& next = next_[static_cast<std::size_t>(target)];
      if (next == job_.each_) return;
      Sent& one = sent_[static_cast<std::size_t>(target)][static_cast<std::size_t>(next++)];
      Cell* memory = fetches(one.kind) && one.kind != OperationKind::get_accumulate
                         ? one.result.data()
                         : one.values.data();
      Operation operation = on_cells(one.kind, memory, target, one.cell, one.values.size());
      if (one.kind == OperationKind::accumulate || one.kind == OperationKind::get_accumulate) {
        operation.reduction = {Op::sum, Basic::u64, sizeof(Cell)};
      }
      if (one.kind == OperationKind::get_accumulate) {
        operation.origin = operation.result;
        operation.result.address = one.result.data();
      }
      operation = notified(operation, one.tag);
      operation.displacement += job_.job_.displacement(target, 0, 0);
      if (one.kind != OperationKind::put ||
          !window().put_notified(target, operation.displacement, memory, operation.bytes(),
                                 operation.notify_arg)) {
        issue(window(), operation);
      }
    }

    /// What is complete at a target that is mapped is there for everybody to see.
    void flush() {
      const int target = random_.below(static_cast<int>(sent_.size()));
      const bool others = !closing_.empty() && !closing_.back().done();
      if (!job_.job_.same_node(rank_, target) || !job_.node_map_.memory.empty() || others) return;
      PostedCall& flushed = flushed_.emplace_back();
      if (locked_ && (only_ == every || only_ == target)) {
        if (window().flushed(target, false)) {
          flushed.complete(Error::none);
        } else {
          flushed.take(window().epochs().flush(target, false, &flushed));
        }
      } else {
        flushed.take(window().epochs().flush_notified(&flushed));
      }
      if (!flushed.done()) return;
      for (int i = 0; i < next_[static_cast<std::size_t>(target)]; ++i) {
        const Sent& one = sent_[static_cast<std::size_t>(target)][static_cast<std::size_t>(i)];
        if (one.kind != OperationKind::put) continue;
        EXPECT_TRUE(std::ranges::equal(
            one.values, std::span(job_.cells_of(target) + one.cell, one.values.size())));
      }
    }

    /// Its own epoch, or one of locks: of all ranks, or of one, which may be a hot one.
    void turn_lock() {
      if (!locked_ && (closing_.empty() || closing_.back().done())) {
        only_ = random_.chance(50) ? random_.below(static_cast<int>(sent_.size())) : every;
        ASSERT_EQ(
            only_ == every ? window().lock_all({}) : window().lock(random_.chance(30), only_, {}),
            Error::none);
        locked_ = true;
      } else if (locked_ && (only_ == every ? window().epochs().try_hold_all()
                                            : window().epochs().try_hold_lock(only_))) {
        unlock();
      }
    }
    void unlock() {
      closing_.emplace_back();
      PostedCall& closed = closing_.back();
      closed.take(only_ == every ? window().unlock_all(&closed) : window().unlock(only_, &closed));
      locked_ = false;
    }

    void listen() {
      if (request_ == nullptr) {
        const int source = random_.below(static_cast<int>(sent_.size()));
        const NotifyPattern pattern{random_.chance(40) ? any : source,
                                    random_.chance(50) ? any : random_.below(job_.tags())};
        // Of several we see the last only: all are known where their source is.
        int count = 1;
        if (pattern.source != any && job_.node_map_.ordered()) {
          count = std::min(random_.between(1, 4), matching(source, pattern));
        }
        if (count == 0 || matching(pattern) < count) return;
        request_ = std::make_unique<NotifyRequest>(pattern, static_cast<std::uint32_t>(count));
        window().notifications().start(*request_);
      }
      if (!request_->complete()) return;
      take(*request_);
      request_.reset();
    }
    int matching(const NotifyPattern& pattern) const {
      int all = 0;
      for (int source = 0; source < static_cast<int>(sent_.size()); ++source) {
        if (pattern.source == any || pattern.source == source) all += matching(source, pattern);
      }
      return all;
    }
    /// How many of those from `source` that match have not been heard of.
    int matching(int source, const NotifyPattern& pattern) const {
      const std::vector<Sent>& all = from(source);
      int count = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        count += !heard_[static_cast<std::size_t>(source)][i] && fits(pattern, all[i]) ? 1 : 0;
      }
      return count;
    }
    static bool fits(const NotifyPattern& pattern, const Sent& sent) {
      return pattern.tag == any || pattern.tag == sent.tag;
    }
    const std::vector<Sent>& from(int source) const {
      return job_.players_[static_cast<std::size_t>(source)].sent_[static_cast<std::size_t>(rank_)];
    }

    void take(const NotifyRequest& request) {
      const Notification last = request.last();
      ASSERT_GE(last.source, 0);
      const std::vector<Sent>& all = from(last.source);
      std::vector<bool>& heard = heard_[static_cast<std::size_t>(last.source)];
      std::uint32_t expected = request.expected();
      for (std::size_t i = 0; i < all.size() && expected != 0; ++i) {
        const Sent& one = all[i];
        if (heard[i] || !fits(request.pattern(), one)) continue;
        const bool described =
            one.tag == last.tag && one.values.size() * sizeof(Cell) == last.bytes;
        if (!job_.node_map_.ordered() && !described) continue;
        --expected;
        if (expected == 0) {
          ASSERT_TRUE(described) << "not the oldest one of its origin";
        }
        heard[i] = true;
        --left_;
        see(one);
      }
      ASSERT_EQ(expected, 0u) << "a notification that nobody has sent, or twice";
    }
    /// N4: what was written is there, what was read may be overwritten.
    void see(const Sent& one) {
      Cell* cells = job_.cells_of(rank_) + one.cell;
      for (std::size_t i = 0; i < one.values.size(); ++i) {
        if (one.kind == OperationKind::get) {
          cells[i] = 0;
        } else {
          ASSERT_EQ(cells[i], job_.after(one, i));
        }
      }
    }

    NotifiedJob& job_;
    int rank_;
    Random random_;
    std::vector<std::vector<Sent>> sent_;   // by target
    std::vector<int> next_;                 // by target: how many have been sent
    std::vector<std::vector<bool>> heard_;  // by source
    int left_ = 0;                          // not heard of
    std::unique_ptr<NotifyRequest> request_;
    static constexpr int every = -1;
    bool locked_ = false;
    int only_ = every;  // of one rank
    std::deque<PostedCall> closing_;
    std::deque<PostedCall> flushed_;
    int flushes_ = random_.chance(50) ? 2 : 30;  // of a hundred times
  };

  static constexpr Cell initial = 7;

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
  std::uint64_t cells() const {
    return node_map_.nodes.size() * static_cast<std::uint64_t>(each_) * longest;
  }
  std::int64_t first_cell(int origin, int number) const {
    return (std::int64_t{origin} * each_ + number) * std::int64_t{longest};
  }
  int tags() const { return node_map_.ordered() ? few_tags : each_; }
  Cell* cells_of(int rank) { return reinterpret_cast<Cell*>(job_.memory(rank)); }
  static Cell after(const Sent& one, std::size_t i) {
    return one.kind == OperationKind::put ? one.values[i] : initial + one.values[i];
  }
  Player& player(int rank) { return players_[static_cast<std::size_t>(rank)]; }

 public:
  void fill() {
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      std::fill_n(cells_of(rank), cells(), initial);
    }
  }

 private:
  NotifiedPlacement node_map_;
  int each_;
  bool threads_;
  SimJob job_;
  std::deque<Player> players_;
  int away_ = -1;
  std::atomic<int> ready_{0};
  std::atomic<bool> over_{false};
};

class RandomNotified : public ::testing::TestWithParam<NotifiedPlacement> {};

TEST_P(RandomNotified, EachArrivesOnceWithItsData) {
  const Seeds seeds = Seeds::from_environment(30);
  std::uint64_t named = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NotifiedJob job(seed, GetParam(), 25, false);
    job.fill();
    Random random(seed);
    for (int steps = 0; !job.over(); ++steps) {
      ASSERT_LT(steps, 2'000'000) << "it does not end";
      job.step(random);
      if (HasFatalFailure()) return;
    }
    job.check();
    if (HasFailure()) return;
    named += job.named();
  }
  EXPECT_EQ(named != 0, GetParam().direct && GetParam().writes.ordered && GetParam().pieces == 0)
      << named;
}

// N4 under ThreadSanitizer.
TEST_P(RandomNotified, AlsoAsThreads) {
  const Seeds seeds = Seeds::from_environment(3);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NotifiedJob job(seed, GetParam(), 40, true);
    job.fill();
    job.run_as_threads();
    job.check();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, RandomNotified, ::testing::ValuesIn(placements()),
                         [](const auto& node_map) { return std::string(node_map.param.name); });

class NotifiedPair : public ::testing::Test {
 protected:
  NotifiedPair() {
    SimWindowSpec spec;
    spec.bytes = 1024;
    job_.create_window(spec);
  }
  void notify(std::int32_t tag) {
    issue(job_.window(0), notified(on_word(OperationKind::put, &value_, 1), tag));
  }

  SimJob job_{{0, 0}};
  std::uint64_t value_ = 5;
};

// N3: a full queue holds the notifications back, not the data, and a flush waits for them.
TEST_F(NotifiedPair, AFullQueuePushesBack) {
  constexpr int many = 3 * SimNetwork::Notifications::most;
  for (int tag = 0; tag < many; ++tag) {
    value_ = static_cast<std::uint64_t>(tag);
    notify(tag);
    EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(job_.memory(1)), value_);
  }
  PostedCall local;
  PostedCall flushed;
  // Neither path of a flush overlooks them, also where another epoch covers the target.
  EXPECT_FALSE(job_.window(0).flushed(1, false));
  ASSERT_EQ(job_.window(0).lock_all({}), Error::none);
  issue(job_.window(0), on_word(OperationKind::put, &value_, 1, 8));
  EXPECT_FALSE(job_.window(0).flushed(1, false));
  EXPECT_TRUE(job_.window(0).unlock_all(nullptr).done);
  const Outcome outcome = job_.window(0).epochs().flush(1, false, &flushed);
  EXPECT_FALSE(outcome.done);
  for (int i = 0; i < 100; ++i) job_.process(0).sweep();
  EXPECT_FALSE(flushed.done());
  EXPECT_FALSE(job_.window(0).epochs().quiet());
  // The other one has no request, and takes them all the same.
  EXPECT_TRUE(job_.process(1).busy());
  job_.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_FALSE(job_.process(1).busy());
  for (int tag = 0; tag < many; ++tag) {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    job_.window(1).notifications().start(next);
    job_.run_until_idle();
    ASSERT_TRUE(next.complete());
    EXPECT_EQ(next.last().tag, tag);
  }
}

// What closes an epoch waits for the notifications that are held, also where a lock that is free
// was taken by an epoch that is in no list; a flush does, and then nothing is left to wait for.
TEST_F(NotifiedPair, AFullQueuePushesBackUnderALock) {
  constexpr int many = 3 * SimNetwork::Notifications::most;
  for (const bool one : {true, false}) {
    for (const bool flushes : {false, true}) {
      SCOPED_TRACE(std::string(one ? "lock" : "lock_all") + (flushes ? ", flush" : ""));
      Window& window = job_.window(0);
      ASSERT_EQ(one ? window.lock(true, 1, {}) : window.lock_all({}), Error::none);
      for (int tag = 0; tag < many; ++tag) notify(tag);
      PostedCall flushed, closed;
      const auto held = [&](const PostedCall& posted) {
        for (int i = 0; i < 100; ++i) job_.process(0).sweep();
        EXPECT_FALSE(posted.done());
        job_.run_until_idle();
        EXPECT_TRUE(posted.done());
      };
      if (flushes) {
        flushed.take(window.epochs().flush(1, false, &flushed));
        held(flushed);
      }
      closed.take(one ? window.unlock(1, &closed) : window.unlock_all(&closed));
      if (!flushes) held(closed);
      EXPECT_TRUE(closed.done());
      EXPECT_TRUE(window.epochs().quiet());
      for (int tag = 0; tag < many; ++tag) {
        NotifyRequest next(NotifyPattern{0, any}, 1);
        job_.window(1).notifications().start(next);
        job_.run_until_idle();
        ASSERT_TRUE(next.complete());
        EXPECT_EQ(next.last().tag, tag);
      }
    }
  }
}

// Notices that are held wait for nothing but space, also where others of older operations join
// them. The network tells of an atomic when what was issued behind it has been carried out.
TEST(HeldNotifications, OfAnAtomicThatTheNetworkTellsOfLate) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.atomics = {bit(Basic::u64), every_op};
  job.create_window(spec);
  constexpr int space = SimNetwork::Notifications::most;
  Cell value = 5;
  int tags = 0;
  const auto put = [&] {
    issue(job.window(0), notified(on_word(OperationKind::put, &value, 1), tags++));
  };
  while (tags < space) put();
  for (int atomics = 0; atomics < 2; ++atomics) {
    Operation add = on_word(OperationKind::accumulate, &value, 1, 8);
    add.reduction = {Op::sum, Basic::u64, sizeof(Cell)};
    issue(job.window(0), notified(add, tags++));
  }
  put();
  put();
  for (int tag = 0; tag < tags; ++tag) {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    job.window(1).notifications().start(next);
    job.run_until_idle();
    ASSERT_TRUE(next.complete()) << tag;
    EXPECT_EQ(next.last().tag, tag);
  }
  EXPECT_TRUE(job.window(0).epochs().quiet());
}

// What waited for a lock is carried out when that is granted, and its notifications go, before what
// is issued then; there is no space for all of them.
TEST_F(NotifiedPair, AFullQueueWhenALockIsGranted) {
  constexpr int early = SimNetwork::Notifications::most + 3;
  std::array<Cell, 3> values{11, 12, 13};
  int tags = 0;
  const auto replace = [&](Cell& value, bool notifies) {
    Operation operation = on_word(OperationKind::accumulate, &value, 1, 8);
    operation.reduction = {Op::replace, Basic::u64, sizeof(Cell)};
    issue(job_.window(0), notifies ? notified(operation, tags++) : operation);
  };
  ASSERT_EQ(job_.window(1).lock(true, 1, {}), Error::none);
  ASSERT_EQ(job_.window(0).lock(false, 1, {}), Error::none);
  while (tags < early) notify(tags++);
  replace(values[0], true);
  ASSERT_TRUE(job_.window(1).unlock(1, nullptr).done);
  job_.process(0).sweep();
  ASSERT_TRUE(job_.window(0).epochs().try_hold_lock(1));
  replace(values[1], true);
  replace(values[2], false);
  EXPECT_EQ(reinterpret_cast<Cell*>(job_.memory(1))[1], values[2]);
  for (int tag = 0; tag < tags; ++tag) {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    job_.window(1).notifications().start(next);
    job_.run_until_idle();
    ASSERT_TRUE(next.complete()) << tag;
    EXPECT_EQ(next.last().tag, tag);
  }
  EXPECT_EQ(reinterpret_cast<Cell*>(job_.memory(1))[1], values[2]);
  EXPECT_TRUE(job_.window(0).unlock(1, nullptr).done);
  EXPECT_TRUE(job_.window(0).epochs().quiet());
}

// A program without notified accesses has nothing more to look for.
TEST_F(NotifiedPair, NobodyListensForNothing) {
  EXPECT_FALSE(job_.process(1).busy());
  NotifyRequest request(NotifyPattern{0, 3}, 2);
  job_.window(1).notifications().start(request);
  EXPECT_TRUE(job_.process(1).busy());
  notify(3);
  notify(3);
  job_.process(1).sweep();
  EXPECT_TRUE(request.complete());
  EXPECT_FALSE(job_.process(1).busy());
  NotifyRequest stopped(NotifyPattern{0, 3}, 1);
  job_.window(1).notifications().start(stopped);
  job_.window(1).notifications().stop(stopped);
  EXPECT_FALSE(job_.process(1).busy());
}

// A later operation's answer says nothing of a direct transfer: neither path of a flush overlooks
// it.
TEST(NotifiedFlush, AwaitsDirectTransfers) {
  Limits limits;
  limits.direct = 64;
  limits.direct_run = 8;
  SimJob job({0, 1}, false, limits);
  job.network().set_writes(SimNetwork::delivered_writes);  // packets overtake transfers
  SimWindowSpec spec;
  spec.bytes = 256;
  spec.direct = true;
  job.create_window(spec);
  std::memset(job.memory(1), 1, 256);
  std::array<Cell, 16> far{};
  Cell near = 0;
  issue(job.window(0), notified(on_cells(OperationKind::get, far.data(), 1, 0, far.size()), 1));
  issue(job.window(0), notified(on_cells(OperationKind::get, &near, 1, 0, 1), 2));
  for (int round = 0; round < 100; ++round) {
    for (int rank = 0; rank < 2; ++rank) job.process(rank).sweep();
    for (const SimNetwork::Route& route : job.network().under_way()) {
      if (!route.transfers) job.network().deliver(route);
    }
  }
  ASSERT_NE(near, 0u);
  ASSERT_EQ(far.back(), 0u);
  EXPECT_FALSE(job.window(0).flushed(1, false));
  EXPECT_FALSE(job.window(0).flushed(1, true));
  PostedCall flushed;
  flushed.take(job.window(0).epochs().flush(1, false, &flushed));
  EXPECT_FALSE(flushed.done());
  job.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_NE(far.back(), 0u);
}

/// The calls that return after the counters of notified operations have been incremented.
enum class CoveredBy : std::uint8_t {
  flush,
  flush_all,
  thread_flush,
  flush_outside_epochs,
  unlock,
  unlock_all,
  flush_behind_weak_unlock,
};

/// Rank 0 notifies rank 1 behind direct transfers and network atomics. Everything arrives late and
/// in a random order.
class CoveredNotifications : public ::testing::TestWithParam<SimNetwork::Writes> {
 protected:
  CoveredNotifications() {
    job_.network().set_writes(GetParam());
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.direct = true;
    spec.atomics = {bit(Basic::u64), every_op};
    job_.create_window(spec);
    job_.window(0).notifications().counters() = Counters(0, {{}, {nullptr, 1}}, nullptr);
    job_.window(1).notifications().counters() = Counters(1, {{}, {&counter_, 1}}, nullptr);
  }
  static Limits limits() {
    Limits limits;
    limits.direct = limits.direct_run = 0;
    return limits;
  }
  void notify(OperationKind kind) {
    Operation operation = on_cells(kind, cells_.data(), 1, 0, cells_.size());
    if (kind == OperationKind::accumulate) {
      operation.reduction = {Op::sum, Basic::u64, sizeof(Cell)};
    }
    operation.notify_arg = {NotifyKind::counter, 0, operation.bytes()};
    operation.thread = 1;
    issue(job_.window(0), operation);
    ++notified_;
  }
  /// Random steps until the call has returned.
  void await(Random& random, PostedCall& posted, const Outcome& outcome) {
    posted.take(outcome);
    for (int step = 0; !posted.done(); ++step) {
      ASSERT_LT(step, 10'000) << "it does not end";
      const std::vector<SimNetwork::Route> routes = job_.network().under_way();
      if (!routes.empty() && random.chance(50)) {
        job_.network().deliver(random.pick(routes));
      } else {
        job_.process(random.below(2)).sweep();
      }
    }
  }
  void finish(Random& random, PostedCall& posted, const Outcome& outcome) {
    await(random, posted, outcome);
    EXPECT_EQ(counter_.value(), notified_);
  }
  /// Opens a lock_all epoch in which the lock has been granted.
  void open_granted() {
    ASSERT_EQ(job_.window(0).lock_all({}), Error::none);
    Random random(1);
    PostedCall flushed;
    notify(OperationKind::put);
    finish(random, flushed, job_.window(0).epochs().flush(1, false, &flushed));
  }
  void play(Random& random, CoveredBy call) {
    constexpr std::array kinds{OperationKind::put, OperationKind::get, OperationKind::accumulate};
    job_.network().set_longest_copied(random.chance(50) ? sizeof cells_ : 0);
    job_.network().set_congesting(static_cast<std::size_t>(random.between(1, 6)));
    Window& window = job_.window(0);
    const bool all = call != CoveredBy::unlock && call != CoveredBy::flush_behind_weak_unlock;
    if (call == CoveredBy::flush_behind_weak_unlock) {
      ASSERT_EQ(window.lock(true, 1, weak_unlock()), Error::none);
    } else if (call == CoveredBy::unlock) {
      ASSERT_EQ(window.lock(true, 1, {}), Error::none);
    } else if (call != CoveredBy::flush_outside_epochs) {
      ASSERT_EQ(window.lock_all({}), Error::none);
    }
    for (int more = random.between(1, 4); more > 0; --more) {
      notify(kinds[static_cast<std::size_t>(random.below(3))]);
      for (int moves = random.below(3); moves > 0; --moves) {
        const std::vector<SimNetwork::Route> routes = job_.network().under_way();
        if (!routes.empty()) job_.network().deliver(random.pick(routes));
        job_.process(random.below(2)).sweep();
      }
    }
    PostedCall over;
    PostedCall closed;
    Epochs& epochs = window.epochs();
    switch (call) {
      case CoveredBy::flush_behind_weak_unlock:
        await(random, closed, window.unlock(1, &closed));
        ASSERT_EQ(window.lock(true, 1, {}), Error::none);
        [[fallthrough]];
      case CoveredBy::flush:
      case CoveredBy::flush_outside_epochs:
        finish(random, over, epochs.flush(1, false, &over));
        break;
      case CoveredBy::flush_all:
        finish(random, over, epochs.flush_all(false, &over));
        break;
      case CoveredBy::thread_flush:
        finish(random, over, epochs.flush(1, false, &over, 1));
        break;
      case CoveredBy::unlock:
        return finish(random, over, window.unlock(1, &over));
      case CoveredBy::unlock_all:
        return finish(random, over, window.unlock_all(&over));
    }
    PostedCall unlocked;
    if (call != CoveredBy::flush_outside_epochs) {
      unlocked.take(all ? window.unlock_all(&unlocked) : window.unlock(1, &unlocked));
    }
    job_.run_until_idle();
  }

  SimJob job_{{0, 1}, false, limits()};
  Counter counter_;
  std::array<Cell, 2> cells_{};
  std::uint64_t notified_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Networks, CoveredNotifications,
                         ::testing::ValuesIn(SimNetwork::all_writes),
                         [](const auto& one) { return name_of(one.param); });

// N8: flushes and unlocks return after the counters have been incremented.
TEST_P(CoveredNotifications, ByFlushesAndUnlocks) {
  const Seeds seeds = Seeds::from_environment(200);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    play(random, static_cast<CoveredBy>(random.below(7)));
    if (HasFailure()) return;
  }
}

// One question behind the last notification, although each is sent when its read has ended.
TEST_P(CoveredNotifications, WithOneQuestionForAll) {
  open_granted();
  Random random(1);
  job_.network().set_longest_copied(sizeof cells_);
  for (const int round : {0, 1, 2, 3}) {
    job_.network().set_congesting(round % 2 == 0 ? 1 : 1000);
    const std::uint64_t before = job_.transport(0).messages_sent();
    for (int i = 0; i < 3; ++i) notify(round < 2 ? OperationKind::get : OperationKind::put);
    PostedCall flushed;
    finish(random, flushed, job_.window(0).epochs().flush(1, false, &flushed));
    EXPECT_EQ(job_.transport(0).messages_sent() - before, 3u + 1u);
  }
}

// It waits until the notifications have been sent, and needs nothing of the target.
// An operation that is a message waits for its turn behind a transfer that notifies at its end.
TEST_P(CoveredNotifications, BehindAMessageThatWaits) {
  Limits limits = CoveredNotifications::limits();
  limits.fragment = limits.under_way = sizeof(Cell);
  SimJob job({0, 1}, false, limits);
  job.network().set_writes(GetParam());
  SimWindowSpec spec;
  spec.bytes = 64;
  spec.direct = true;
  job.create_window(spec);
  Counter counter;
  job.window(0).notifications().counters() = Counters(0, {{}, {nullptr, 1}}, nullptr);
  job.window(1).notifications().counters() = Counters(1, {{}, {&counter, 1}}, nullptr);
  ASSERT_EQ(job.window(0).lock_all({}), Error::none);
  PostedCall granted;
  issue(job.window(0), on_cells(OperationKind::put, cells_.data(), 1, 0, 1));
  granted.take(job.window(0).epochs().flush(1, false, &granted));
  job.run_until_idle();
  ASSERT_TRUE(granted.done());
  Operation read = on_cells(OperationKind::get, cells_.data(), 1, 0, 2);
  read.notify_arg = {NotifyKind::counter, 0, read.bytes()};
  issue(job.window(0), read);
  // More bytes than may be under way.
  std::array<Cell, 3> results{};
  Operation update = on_cells(OperationKind::accumulate, cells_.data(), 1, 0, results.size());
  update.kind = OperationKind::get_accumulate;
  update.result = update.origin;
  update.result.address = results.data();
  update.reduction = {Op::sum, Basic::u64, sizeof(Cell)};
  update.reduction.by_elements = true;
  update.notify_arg = {NotifyKind::counter, 0, update.bytes()};
  issue(job.window(0), update);
  PostedCall flushed;
  flushed.take(job.window(0).epochs().flush(1, false, &flushed));
  EXPECT_FALSE(flushed.done());
  job.network().deliver({0, 1, true}) || job.network().deliver({0, 1});
  job.process(0).sweep();
  job.run_until_idle();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(counter.value(), 2u);
}

TEST_P(CoveredNotifications, AreSentWhenALocalFlushReturns) {
  open_granted();
  notify(OperationKind::get);
  PostedCall local;
  local.take(job_.window(0).epochs().flush(1, true, &local));
  EXPECT_FALSE(local.done());
  for (int round = 0; round < 4; ++round) {
    for (const SimNetwork::Route& route : job_.network().under_way()) {
      job_.network().deliver(route);
    }
    job_.process(0).sweep();
  }
  EXPECT_TRUE(local.done());
  EXPECT_LT(counter_.value(), notified_);
}

TEST_P(CoveredNotifications, ByAFlushBehindALocalOne) {
  open_granted();
  notify(OperationKind::get);
  std::array<PostedCall, 2> flushed;
  flushed[0].take(job_.window(0).epochs().flush(1, true, &flushed[0]));
  flushed[1].take(job_.window(0).epochs().flush(1, false, &flushed[1]));
  job_.run_until_idle();
  EXPECT_TRUE(flushed[0].done());
  EXPECT_TRUE(flushed[1].done());
  EXPECT_EQ(counter_.value(), notified_);
}

// The later read has ended when the answer arrives, and its notification is behind the question.
TEST_P(CoveredNotifications, OfLaterOperationsAreNotAwaited) {
  open_granted();
  notify(OperationKind::get);
  PostedCall flushed;
  flushed.take(job_.window(0).epochs().flush(1, false, &flushed));
  notify(OperationKind::get);
  ASSERT_TRUE(job_.network().deliver({0, 1, !GetParam().ordered}));
  job_.process(0).sweep();
  while (job_.network().deliver({0, 1})) {
  }
  job_.process(1).sweep();
  EXPECT_EQ(job_.network().deliver({0, 1, true}), !GetParam().ordered);
  job_.process(0).sweep();
  while (job_.network().deliver({1, 0})) {
  }
  job_.process(0).sweep();
  EXPECT_TRUE(flushed.done());
  EXPECT_EQ(counter_.value(), notified_ - 1);
}

// Also if a card carries out puts and gets of every length: none is notified behind later ones.
TEST(ShortNotifications, KeepTheirOrder) {
  constexpr std::array kinds{OperationKind::put, OperationKind::get, OperationKind::accumulate};
  constexpr int many = 12;
  Limits limits;
  limits.set_by_card(true);
  const Seeds seeds = Seeds::from_environment(60);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    SimJob job({0, 1}, false, limits);
    job.network().set_writes(random.pick(SimNetwork::all_writes));
    job.network().set_congesting(static_cast<std::size_t>(random.between(1, 6)));
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.direct = true;
    job.create_window(spec);
    std::array<Cell, 2> cells{};
    for (int tag = 0; tag < many; ++tag) {
      const OperationKind kind = kinds[static_cast<std::size_t>(random.below(3))];
      Operation operation = on_cells(kind, cells.data(), 1, 0, cells.size());
      if (kind == OperationKind::accumulate) {
        operation.reduction = {Op::sum, Basic::u64, sizeof(Cell)};
      }
      issue(job.window(0), notified(operation, tag));
      for (int moves = random.below(3); moves > 0; --moves) {
        const std::vector<SimNetwork::Route> routes = job.network().under_way();
        if (!routes.empty()) job.network().deliver(random.pick(routes));
        job.process(random.below(2)).sweep();
      }
    }
    for (int tag = 0; tag < many; ++tag) {
      NotifyRequest next(NotifyPattern{0, any}, 1);
      job.window(1).notifications().start(next);
      job.run_until_idle();
      ASSERT_TRUE(next.complete());
      ASSERT_EQ(next.last().tag, tag);
    }
  }
}

// One that is stored before its notification, and once more when that finds no space, is one
// memmove.
TEST_F(NotifiedPair, AnOverlappingPutToOneself) {
  std::array<unsigned char, 512> expected;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<unsigned char>(i);
  std::memcpy(job_.memory(0), expected.data(), expected.size());
  std::memmove(expected.data() + 64, expected.data(), 400);
  const auto put = [&](const void* from, std::int64_t to, std::uint64_t bytes) {
    if (job_.window(0).put_notified(0, to, from, bytes, {NotifyKind::tag, 1, 0})) return;
    Operation operation = on_word(OperationKind::put, static_cast<const Cell*>(from), 0, to);
    operation.target_count = operation.origin.count = bytes / sizeof(Cell);
    issue(job_.window(0), notified(operation, 1));
  };
  // The queue is full, and no notification is held yet.
  for (std::size_t i = 0; i < SimNetwork::Notifications::most; ++i) {
    put(&value_, 1000, sizeof value_);
  }
  ASSERT_FALSE(job_.window(0).peer(0).holds_notifications());
  put(job_.memory(0), 64, 400);
  EXPECT_EQ(std::memcmp(job_.memory(0), expected.data(), expected.size()), 0);
}

// A rank that has made its part of a window may notify one that has not.
TEST_F(NotifiedPair, TheFirstOnesWaitForTheirWindow) {
  constexpr std::uint32_t number = 3;  // of rank 1's second window, as SimJob gives them
  Process& process = job_.process(1);
  const Listening listening(process.listeners());
  const auto send = [&](std::uint32_t window, std::int32_t tag) {
    ASSERT_EQ(job_.transport(0).notify(1, {window, {0, tag, 8}}, {}), NotifyOutcome::stored);
    process.sweep();
  };
  send(number, 1);  // to one that nobody makes
  process.expect_window(number);
  send(number, 2);
  send(number, 3);
  process.expect_window(number + 2);
  send(number + 2, 4);
  process.forget_window(number + 2);
  SimWindowSpec spec;
  spec.bytes = 64;
  job_.create_window(spec);
  job_.create_window(spec);
  ASSERT_EQ(job_.window(1, 1).id(), number);
  for (const std::int32_t tag : {2, 3}) {
    NotifyRequest next(NotifyPattern{0, any}, 1);
    job_.window(1, 1).notifications().start(next);
    ASSERT_TRUE(next.complete());
    EXPECT_EQ(next.last().tag, tag);
  }
  EXPECT_EQ(job_.window(1, 1).notifications().find_kept({any, any}), nullptr);
  EXPECT_EQ(job_.window(1, 2).notifications().find_kept({any, any}), nullptr);
}

// It belongs to the epoch that covers its target: a start waits for the post.
TEST_F(NotifiedPair, AnEpochThatCoversTheTargetTakesIt) {
  const std::array<int, 1> to = {1};
  const std::array<int, 1> from = {0};
  EXPECT_FALSE(job_.window(0).epochs().covered(1));
  ASSERT_EQ(job_.window(0).epochs().start(to, {}), Error::none);
  EXPECT_TRUE(job_.window(0).epochs().covered(1));
  EXPECT_FALSE(job_.window(0).epochs().covered(0));
  notify(4);
  job_.run_until_idle();
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(job_.memory(1)), 0u);
  ASSERT_EQ(job_.window(1).epochs().post(from, {}), Error::none);
  NotifyRequest request(NotifyPattern{0, 4}, 1);
  job_.window(1).notifications().start(request);
  job_.run_until_idle();
  EXPECT_TRUE(request.complete());  // before the epoch is closed
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(job_.memory(1)), value_);
  PostedCall completed;
  PostedCall waited;
  completed.take(job_.window(0).epochs().complete(&completed));
  waited.take(job_.window(1).epochs().wait(&waited));
  job_.run_until_idle();
  EXPECT_TRUE(completed.done() && waited.done());
}

TEST_F(NotifiedPair, WithoutAnEpochOnlyNotifiedOnesMayBeIssued) {
  const Outcome plain = job_.window(0).epochs().issue(on_word(OperationKind::put, &value_, 1));
  EXPECT_EQ(plain.error, Error::sync);
  EXPECT_EQ(job_.window(0).epochs().flush(1, false, nullptr).error, Error::sync);
  EXPECT_EQ(job_.window(0).epochs().flush_all(false, nullptr).error, Error::sync);
  notify(1);
  EXPECT_TRUE(job_.window(0).epochs().flush(1, false, nullptr).done);
  EXPECT_TRUE(job_.window(0).epochs().flush_all(false, nullptr).done);
  EXPECT_EQ(job_.window(0).epochs().flush(0, false, nullptr).error, Error::sync);
}

// B2: who waits to hear from a rank that has ended is told so.
TEST_F(NotifiedPair, TheDeadAreNotAwaited) {
  EXPECT_EQ(job_.window(1).epochs().lost_source(0), -1);
  EXPECT_EQ(job_.window(1).epochs().lost_source(any), -1);
  for (int i = 0; i < 2; ++i) job_.transport(i).set_ended(1 - i);
  EXPECT_EQ(job_.window(1).epochs().lost_source(0), 0);
  EXPECT_EQ(job_.window(1).epochs().lost_source(any), 0);
  // A flush that waits for space there, likewise.
  for (int tag = 0; tag < 3 * static_cast<int>(SimNetwork::Notifications::most); ++tag) notify(tag);
  PostedCall flushed;
  EXPECT_FALSE(job_.window(0).epochs().flush(1, false, &flushed).done);
  EXPECT_EQ(job_.window(0).epochs().lost_peer(), 1);
}

}  // namespace
}  // namespace oriel::test
