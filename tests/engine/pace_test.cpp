// SPDX-License-Identifier: BSD-3-Clause
// How often calls sweep, advance the host and yield, counted in calls: no test depends on time.
#include "engine/progress/pace.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "core/base/steps.hpp"
#include "engine/progress/sweep_pauses.hpp"
#include "engine/progress/waiting.hpp"
#include "shm_processes.hpp"
#include "support/sim_ranks.hpp"

namespace {

thread_local std::uint64_t yields = 0;

}  // namespace

/// In the place of the system library's, for this test program.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace oriel::test {
namespace {

using shm_test::Environment;

/// A network on which nothing arrives. If it is busy, each sweep finds one transfer that has ended.
class TestNetwork : public Network {
 public:
  explicit TestNetwork(bool busy, bool by_card = false) : busy_(busy), by_card_(by_card) {}

  void set_busy(bool busy) { busy_ = busy; }

  const NetworkName& name() const override { return name_; }
  std::string description() const override { return "test"; }
  int attach(const NetworkName&, std::string&) override { return -1; }
  void send(int, std::span<const std::byte>, std::span<const std::byte>) override {}
  void push() override {}
  bool congested(int) const override { return false; }
  std::span<const std::byte> receive() override { return {}; }
  bool alive(int) override { return true; }
  void watch(const NetworkName&) override {}
  void expect(const NetworkName&) override {}
  bool links_answered() override { return true; }
  Accepted transfer(int, bool, std::span<const TransferRun>, std::uint64_t, std::uint64_t,
                    Behind*) override {
    return {};
  }
  bool finished(Transfer&) override { return busy_ && (reports_ = !reports_); }
  bool orders_writes() const override { return false; }
  bool delivers_writes() const override { return true; }
  bool transferring() const override { return false; }
  bool direct() const override { return false; }
  bool by_card() const override { return by_card_; }
  int register_buffer(bool, void*, std::uint64_t, RemoteMemory&) override { return -1; }
  void deregister_buffer(int) override {}
  int expose(void*, std::uint64_t, RemoteMemory&) override { return -1; }
  void withdraw(int) override {}
  int wait_descriptor() const override { return -1; }
  bool may_wait() override { return true; }
  bool drained(int) override { return true; }
  bool drained() override { return true; }
  std::uint64_t delayed() const override { return 0; }

 private:
  NetworkName name_;
  bool busy_;
  bool by_card_;
  bool reports_ = false;
};

/// Reports the end of a transfer at the eighth poll in a row: some providers do not read an idle
/// connection at each poll.
class SilentNetwork final : public TestNetwork {
 public:
  SilentNetwork(std::atomic<bool>& reported, std::atomic<std::uint64_t>& pauses)
      : TestNetwork(false), reported_(reported), pauses_(pauses) {}

  std::span<const std::byte> receive() override {
    ++polls_;
    return {};
  }
  bool finished(Transfer&) override {
    if (polls_ < 8 || reported_) return false;
    reported_ = true;
    return true;
  }
  /// The agent asks this before each pause.
  bool transferring() const override {
    polls_ = 0;
    ++pauses_;
    return false;
  }

 private:
  mutable int polls_ = 0;
  std::atomic<bool>& reported_;
  std::atomic<std::uint64_t>& pauses_;
};

class Pacing : public shm_test::ShmTest {
 protected:
  /// The engine begins, with the settings that the test has made, at the first use.
  SimRank& rank() {
    if (rank_ == nullptr) rank_ = std::make_unique<SimRank>(group_, 0);
    return *rank_;
  }
  Engine& engine() { return rank().engine; }
  Process& process() { return rank().running().process; }
  Pace& pace() { return rank().running().pace; }
  void add_network(bool busy = false, bool by_card = false) {
    auto network = std::make_unique<TestNetwork>(busy, by_card);
    network_ = network.get();
    rank().networks.given = std::move(network);
    std::string error;
    ASSERT_NE(rank().running().transports.open_network({}, 1, {}, error), nullptr);
  }

  TestNetwork* network_ = nullptr;  // that add_network() has added

  /// How often `count` calls of call() sweep.
  template <typename Call>
  std::uint64_t sweeps_in(std::uint64_t count, Call&& call) {
    const std::uint64_t before = process().sweeps();
    for (std::uint64_t i = 0; i < count; ++i) call();
    return process().sweeps() - before;
  }
  std::uint64_t sweeps_in_passing(Passing passing) {
    return sweeps_in(2 * calls_per_interval, [&] { engine().sweep_in_passing(passing); });
  }
  /// How many rounds a wait takes until it has advanced the host `times` times.
  int rounds_of_wait(int times) {
    int rounds = 0;
    const Guard guard(engine().lock);
    const auto done = [&] {
      ++rounds;
      return rank().host.advanced == times;
    };
    EXPECT_FALSE(sweep_until(engine(), events_of_no_window(engine()), {WaitReason::request}, done,
                             [] { return EngineFailure(); }));
    return rounds - 1;  // one check precedes the first round
  }
  bool sleeping() {
    ShmTransport& node = rank().running().transports.shm();
    return node.doorbell(node.self()).sleeping != 0;
  }

  static constexpr std::uint64_t polls_per_rare_yield = 1024;
  static constexpr std::uint64_t calls_per_interval = steps::poll_interval / steps::call;

 private:
  SimGroup group_{1};
  std::unique_ptr<SimRank> rank_;
};

TEST_F(Pacing, CallsAdvanceTheHostAtIntervals) {
  for (std::uint64_t i = 0; i < 2 * steps::host_interval / steps::call; ++i) {
    engine().end_call(steps::call);
  }
  EXPECT_EQ(rank().host.advanced, 2);
  for (std::uint64_t i = 0; i < 2 * steps::host_interval; ++i) {
    engine().end_call(one_hot_call + steps::hot_call);
  }
  EXPECT_EQ(rank().host.advanced, 4);
}

TEST_F(Pacing, CallsOfAnIdleProcessDoNotSweep) {
  EXPECT_EQ(sweeps_in_passing(Passing::polls), 0U);
  EXPECT_EQ(sweeps_in(8, [&] { engine().sweep_on_hot_path(); }), 0U);
}

TEST_F(Pacing, CallsOnOneNodeSweepEachTime) {
  const Listening listening(process().listeners());
  EXPECT_EQ(sweeps_in_passing(Passing::issues), 2 * calls_per_interval);
  EXPECT_EQ(sweeps_in_passing(Passing::synchronizes), 2 * calls_per_interval);
  EXPECT_EQ(sweeps_in_passing(Passing::polls), 2 * calls_per_interval);
  EXPECT_EQ(sweeps_in(8, [&] { engine().sweep_on_hot_path(); }), 8U);
}

// A sweep that polls the network takes longer than a call.
TEST_F(Pacing, CallsBetweenNodesSweepAtIntervals) {
  add_network();
  process().serve(true);
  EXPECT_EQ(sweeps_in_passing(Passing::issues), 2U);
  EXPECT_EQ(sweeps_in_passing(Passing::synchronizes), 2U);
  EXPECT_EQ(sweeps_in_passing(Passing::polls), 2 * calls_per_interval);
  EXPECT_EQ(sweeps_in(2 * calls_per_interval, [&] { engine().sweep_on_hot_path(); }), 2U);
  process().serve(false);
}

TEST_F(Pacing, CallsThatSynchronizeAdvanceWhatIsPending) {
  add_network();
  const Listening listening(process().listeners());
  EXPECT_EQ(sweeps_in_passing(Passing::issues), 2U);
  EXPECT_EQ(sweeps_in_passing(Passing::synchronizes), 2 * calls_per_interval);
  EXPECT_EQ(sweeps_in(8, [&] { engine().sweep_on_hot_path(); }), 8U);
}

TEST_F(Pacing, HotPathsLeaveSweepsToOtherThreads) {
  engine().serialize_threads();
  const Listening listening(process().listeners());
  const std::uint64_t calls = 2 * calls_per_interval;
  EXPECT_EQ(sweeps_in(calls,
                      [&] {
                        process().sweep();  // as another thread would
                        engine().sweep_on_hot_path();
                      }),
            calls + 2);
  const Guard guard(engine().lock);
  std::thread([&] { EXPECT_EQ(sweeps_in(8, [&] { engine().sweep_on_hot_path(); }), 0U); }).join();
}

TEST_F(Pacing, VainPollsAdvanceTheHostAndYieldRarely) {
  const std::uint64_t before = yields;
  for (std::uint64_t i = 0; i < 2 * polls_per_rare_yield; ++i) pace().end_vain_poll();
  EXPECT_EQ(static_cast<std::uint64_t>(rank().host.advanced),
            2 * polls_per_rare_yield / steps::polls_per_host_interval);
  EXPECT_EQ(yields - before, 2U);
}

// With more ranks than processors, the rank that is polled for needs the processor.
TEST_F(Pacing, VainPollsOnACrowdedNodeYieldMoreOften) {
  const Environment environment("ORIEL_CROWDED", "1");
  const std::uint64_t before = yields;
  for (std::uint64_t i = 0; i < 2 * steps::polls_per_host_interval; ++i) {
    const Guard guard(engine().lock);
    pace().end_vain_poll(engine().lock);
  }
  EXPECT_EQ(rank().host.advanced, 2);
  EXPECT_EQ(yields - before, 2 * steps::polls_per_host_interval / 4);
}

// As above, from the hook in the host's progress engine, which advances itself.
TEST_F(Pacing, YieldsWithoutAdvancingTheHost) {
  const std::uint64_t before = yields;
  std::uint64_t intervals = 0;
  StepCount polls;
  for (std::uint64_t i = 0; i < 2 * polls_per_rare_yield; ++i) {
    intervals += pace().yield_after_poll(polls);
  }
  EXPECT_EQ(intervals, 2 * polls_per_rare_yield / steps::polls_per_host_interval);
  EXPECT_EQ(yields - before, 2U);
  EXPECT_EQ(rank().host.advanced, 0);
}

// A poll of the program may call the hook.
TEST_F(Pacing, VainPollsAdvanceTheHostBesideOtherPolls) {
  StepCount others;
  for (std::uint64_t i = 0; i < 2 * steps::polls_per_host_interval; ++i) {
    pace().yield_after_poll(others);
    engine().end_call(steps::call);
    pace().end_vain_poll();
  }
  EXPECT_EQ(rank().host.advanced, 2);
}

// If a program polls several windows in turn, each poll checks the peers of one.
TEST_F(Pacing, VainPollsOfWholeIntervalsCheckThePeers) {
  while (!pace().end_vain_poll()) {
  }
  std::uint64_t checks = 1;
  while (pace().end_vain_poll()) ++checks;
  EXPECT_EQ(checks, steps::polls_per_host_interval);
  std::uint64_t polls = 1;  // the one that has ended the checks
  while (!pace().end_vain_poll()) ++polls;
  EXPECT_EQ(polls % steps::polls_per_host_interval, 0U);
}

TEST_F(Pacing, WaitsBeginWithSweepsAndThenSpin) {
  const std::uint64_t before = yields;
  EXPECT_EQ(rounds_of_wait(1), static_cast<int>(steps::poll_interval / steps::sweep +
                                                steps::host_interval / steps::call));
  EXPECT_EQ(yields - before, steps::host_interval / steps::yield_interval);
}

TEST_F(Pacing, WaitsBetweenNodesCountPollsOfTheNetwork) {
  add_network();
  EXPECT_EQ(rounds_of_wait(1),
            static_cast<int>(steps::poll_interval / steps::poll + steps::polls_per_host_interval));
}

// A poll of a card's network reads memory: eight such polls count as one that makes system calls.
TEST_F(Pacing, WaitsOverACardCountShortPolls) {
  add_network(false, true);
  const std::uint64_t before = yields;
  EXPECT_EQ(rounds_of_wait(1), static_cast<int>(steps::poll_interval / steps::call +
                                                steps::host_interval / steps::call));
  EXPECT_EQ(yields - before, steps::host_interval / steps::yield_interval);
}

// If the machine is so busy that a yield takes milliseconds, the wait sleeps earlier.
TEST_F(Pacing, WaitsOnACrowdedNodeYieldFromTheBeginning) {
  const Environment environment("ORIEL_CROWDED", "1");
  const std::uint64_t before = yields;
  const int rounds = rounds_of_wait(1);
  EXPECT_LE(rounds, static_cast<int>(steps::polls_per_host_interval));
  EXPECT_GE(static_cast<int>(yields - before), rounds - 1);
}

TEST_F(Pacing, WaitsAdvanceTheHostBeforeEachSleep) {
  const Environment spins("ORIEL_SPIN", "0");
  const Environment yields("ORIEL_YIELD", "0");
  EXPECT_EQ(rounds_of_wait(3), static_cast<int>(steps::poll_interval / steps::sweep + 3));
}

TEST_F(Pacing, WaitsSleepStepByStep) {
  const Environment spin("ORIEL_SPIN", "3");
  const Environment yield("ORIEL_YIELD", "2");
  add_network();
  const Listening listening(process().listeners());
  const std::uint64_t before = yields;
  Waiter waiter(engine());
  for (int i = 0; i < 5; ++i) waiter.round_unlocked();
  EXPECT_EQ(yields - before, 2U);
  EXPECT_FALSE(sleeping());
  waiter.round_unlocked();
  EXPECT_TRUE(sleeping());
  // A sweep that moves something begins again.
  network_->set_busy(true);
  waiter.round_unlocked();
  EXPECT_FALSE(sleeping());
  network_->set_busy(false);
  for (int i = 0; i < 5; ++i) waiter.round_unlocked();
  EXPECT_FALSE(sleeping());
  waiter.round_unlocked();
  EXPECT_TRUE(sleeping());
}

// Peers may keep a process busy whose wait depends on the host.
TEST_F(Pacing, WaitsThatMoveSomethingAdvanceTheHost) {
  add_network(true);
  const Listening listening(process().listeners());
  Waiter waiter(engine());
  for (std::uint64_t i = 0; i < 2 * steps::polls_per_host_interval; ++i) waiter.round_unlocked();
  EXPECT_EQ(rank().host.advanced, 2);
}

TEST_F(Pacing, WaitsWithTheLockThatMoveSomethingAdvanceTheHost) {
  add_network(true);
  const Listening listening(process().listeners());
  const Guard guard(engine().lock);
  Waiter waiter(engine());
  for (std::uint64_t i = 0; i < 2 * steps::polls_per_host_interval; ++i) waiter.round();
  EXPECT_EQ(rank().host.advanced, 2);
}

// If others want the processor, a yield takes long: the phase ends by the clock as well (B2).
TEST_F(Pacing, WaitsYieldForALimitedTime) {
  const Environment spin("ORIEL_SPIN", "0");
  const Environment yield("ORIEL_YIELD", "2000000000");
  Waiter waiter(engine());
  while (!sleeping()) waiter.round_unlocked();
  EXPECT_GT(rank().host.advanced, 0);
}

// Pauses between all sweeps would never let the arrival be found. The limit is some seconds of
// them.
TEST_F(Pacing, TheAgentSweepsInRowsIfTheNetworkSignalsNoArrivals) {
  constexpr std::uint64_t most_pauses = 20'000;
  std::atomic<bool> reported{false};
  std::atomic<std::uint64_t> pauses{0};
  rank().networks.given = std::make_unique<SilentNetwork>(reported, pauses);
  std::string error;
  ASSERT_NE(rank().running().transports.open_network({}, 1, {}, error), nullptr);
  process().serve(true);
  engine().agent.start();
  while (!reported && pauses < most_pauses) std::this_thread::yield();
  EXPECT_TRUE(reported);
  engine().agent.stop();
  process().serve(false);
}

TEST(SweepPauses, DoubleUntilSomethingMoves) {
  constexpr long shortest = SweepPauses::shortest;
  constexpr long longest = 5 * shortest;
  SweepPauses pauses;
  for (const long pause : {1, 2, 4, 5, 5}) {
    EXPECT_EQ(pauses.next(false, longest), pause * shortest);
  }
  pauses.begin_again();
  EXPECT_EQ(pauses.next(false, longest), shortest);
  EXPECT_EQ(pauses.next(false, longest), 2 * shortest);
}

TEST(SweepPauses, StayShortWhileSomethingIsUnderWay) {
  constexpr long shortest = SweepPauses::shortest;
  SweepPauses pauses;
  for (int times = 0; times < 5; ++times) {
    EXPECT_EQ(pauses.next(true, 5 * shortest), shortest);
  }
  EXPECT_EQ(pauses.next(true, shortest / 2), shortest / 2);
}

}  // namespace
}  // namespace oriel::test
