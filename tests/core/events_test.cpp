// SPDX-License-Identifier: BSD-3-Clause
// The events that a process tells of its epochs and operations, and the checks of invariants 3 and
// 6 on them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/epoch/events.hpp"
#include "core/epoch/invariant_checks.hpp"
#include "support/calls.hpp"
#include "support/plans.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Words = std::vector<std::string>;

/// The event as a line of a trace has it.
std::string text_of(const Event& event) {
  std::array<char, 256> text;
  const int length = write_text(event, text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(length)};
}

/// The events of one rank, a text each: without the numbers of operations.
class Recorder final : public EventSink {
 public:
  void on(const Event& event, const EventSource& source) override {
    EXPECT_EQ(source.rank, 0);
    Event shown = event;
    if (is_operation(event.kind)) shown.id = 0;
    words.push_back(text_of(shown));
  }

  Words words;

 private:
  static bool is_operation(EventKind kind) {
    return kind == EventKind::operation_issued || kind == EventKind::operation_done;
  }
};

/// Two ranks and a window, and what rank 0 tells.
struct Scene {
  explicit Scene(std::vector<int> nodes) : job(std::move(nodes)) {
    job.create_window({.bytes = 64});
    job.process(0).events().add(recorder);
  }

  Recorder recorder;
  SimJob job;
};

TEST(Events, AnEpochAndItsRecordedPutAreToldInOrder) {
  Scene scene({0, 0});
  Window& origin = scene.job.window(0);
  const std::array targets{1};
  const std::array origins{0};
  ASSERT_EQ(origin.epochs().start(targets, {}), Error::none);
  std::uint64_t value = 7;
  ASSERT_TRUE(origin.epochs().issue(on_word(OperationKind::put, &value, 1)).ok());
  Flag completed;
  EXPECT_FALSE(origin.epochs().complete(&completed).done);
  EXPECT_EQ(scene.recorder.words,
            (Words{"epoch_opened kind=access target=1 epoch=1",
                   "epoch_activated kind=access target=1 epoch=1",
                   "operation_issued kind=put target=1 bytes=8 operation=0 protocol=stored",
                   "epoch_closed kind=access target=1 epoch=1 used"}));
  scene.recorder.words.clear();
  ASSERT_EQ(scene.job.window(1).epochs().post(origins, {}), Error::none);
  scene.job.run_until_idle();
  EXPECT_TRUE(completed.done());
  EXPECT_EQ(scene.recorder.words,
            (Words{"granted kind=access target=1 epoch=1 access=1",
                   "operation_done kind=put target=1 bytes=8 operation=0 protocol=stored",
                   "told kind=access target=1 epoch=1 access=1 used",
                   "epoch_completed kind=access target=1 epoch=1"}));
}

/// When rank 0 is going to tell a target of the end of an epoch, no other rank may know of it.
class EndKnownEarly final : public EventSink {
 public:
  /// `known`: what another rank waits for until it knows.
  EndKnownEarly(SimJob& job, const Flag& known) : job_(job), known_(known) {
    job.process(0).events().add(*this, HotPaths::locks);
  }

  void on(const Event& event, const EventSource&) override {
    if (event.kind != EventKind::told) return;
    ++told_;
    job_.transport(0).messages().push();
    // Word comes by way of the rank that has the lock's queue.
    for (int round = 0; round < 4; ++round) {
      for (const SimNetwork::Route& route : job_.network().under_way()) {
        while (job_.network().deliver(route)) continue;
      }
      for (int rank = 1; rank < job_.ranks(); ++rank) job_.process(rank).sweep();
    }
    EXPECT_FALSE(known_.done());
  }
  int told() const { return told_; }

 private:
  SimJob& job_;
  const Flag& known_;
  int told_ = 0;
};

struct EndOfEpoch : testing::TestWithParam<std::vector<int>> {
  EndOfEpoch() { job.create_window({.bytes = 64}); }

  SimJob job{GetParam()};
  Flag known;
  EndKnownEarly early{job, known};
  const std::uint64_t value = 7;
};

TEST_P(EndOfEpoch, IsReportedBeforeTheTargetKnows) {
  ASSERT_EQ(job.window(1).epochs().post(std::array{0}, {}), Error::none);
  EXPECT_FALSE(job.window(1).epochs().wait(&known).done);
  Epochs& epochs = job.window(0).epochs();
  ASSERT_EQ(epochs.start(std::array{1}, {}), Error::none);
  issue(job.window(0), on_word(OperationKind::put, &value, 1));
  Flag completed;
  epochs.complete(&completed);
  job.run_until_idle();
  EXPECT_EQ(early.told(), 1);
  EXPECT_TRUE(known.done());
}

TEST_P(EndOfEpoch, IsReportedBeforeTheNextRankHoldsTheLock) {
  Window& holder = job.window(0);
  Window& before = job.window(1);
  // A lock that is free would be given back by the hot path.
  ASSERT_EQ(before.lock(true, 1, {}), Error::none);
  ASSERT_EQ(holder.lock(true, 1, {}), Error::none);
  issue(holder, on_word(OperationKind::put, &value, 1));
  EXPECT_TRUE(before.unlock(1, nullptr).done);
  job.run_until_idle();
  Window& next = job.window(2);
  ASSERT_EQ(next.lock(true, 1, {}), Error::none);
  issue(next, on_word(OperationKind::put, &value, 1));
  EXPECT_FALSE(next.epochs().flush(1, false, &known).done);
  job.run_until_idle();
  EXPECT_FALSE(known.done());
  Flag unlocked;
  holder.unlock(1, &unlocked);
  job.run_until_idle();
  EXPECT_EQ(early.told(), 1);
  EXPECT_TRUE(known.done());
}

INSTANTIATE_TEST_SUITE_P(Nodes, EndOfEpoch,
                         testing::Values(std::vector{0, 0, 0}, std::vector{0, 1, 0},
                                         std::vector{0, 1, 2}));

TEST(Events, ADeferredEpochIsActivatedWhenTheOneBeforeItIsExposed) {
  Scene scene({0, 1});
  Epochs& epochs = scene.job.window(0).epochs();
  Flag first;
  const std::array targets{1};
  ASSERT_EQ(epochs.start(targets, {}), Error::none);
  std::uint64_t value = 7;
  ASSERT_TRUE(epochs.issue(on_word(OperationKind::put, &value, 1)).ok());
  epochs.complete(&first);
  scene.recorder.words.clear();
  ASSERT_EQ(epochs.open_lock_all({}, all_threads), Error::none);
  EXPECT_EQ(scene.recorder.words, (Words{"epoch_opened kind=lock_all target=-1 epoch=3",
                                         "epoch_deferred kind=lock_all target=-1 epoch=3"}));
  scene.recorder.words.clear();
  const std::array origins{0};
  ASSERT_EQ(scene.job.window(1).epochs().post(origins, {}), Error::none);
  scene.job.run_until_idle();
  EXPECT_EQ(scene.recorder.words, (Words{"granted kind=access target=1 epoch=1 access=1",
                                         "epoch_activated kind=lock_all target=-1 epoch=3",
                                         "granted kind=lock_all target=0 epoch=3 access=0"}));
}

TEST(Events, AFenceIsToldWhenItIsEnteredAndWhenAllHave) {
  Scene scene({0, 0});
  std::array<Flag, 2> flags;
  for (int turn = 0; turn < 2; ++turn) {
    scene.recorder.words.clear();
    for (const int rank : {0, 1}) {
      scene.job.window(rank).epochs().fence({}, true, &flags[static_cast<std::size_t>(rank)]);
    }
    scene.job.run_until_idle();
  }
  EXPECT_EQ(scene.recorder.words, (Words{"epoch_renewing kind=fence target=-1 epoch=2",
                                         "epoch_renewed kind=fence target=-1 epoch=2"}));
}

TEST(Events, HotPathsAreToldAsFarAsAnySinkAsks) {
  Events events;
  EXPECT_FALSE(events.all_locks());
  Recorder locks;
  Recorder operations;
  Recorder neither;
  events.add(locks, HotPaths::locks);
  EXPECT_TRUE(events.all_locks());
  EXPECT_FALSE(events.all_operations());
  events.add(operations, HotPaths::operations);
  events.add(neither);
  EXPECT_TRUE(events.all_locks());
  EXPECT_TRUE(events.all_operations());
}

TEST(Events, NobodyIsToldOfTheHotPath) {
  Scene scene({0, 0});
  Window& window = scene.job.window(0);
  ASSERT_EQ(window.lock(true, 1, {}), Error::none);
  scene.recorder.words.clear();
  EXPECT_NE(window.find_address(1, 0, 8), nullptr);
  EXPECT_TRUE(window.flushed(1, false));
  EXPECT_TRUE(window.unlock(1, nullptr).done);
  EXPECT_EQ(scene.recorder.words, Words{});
}

TEST(Events, MessagesOfOneOriginInOneSweepAreServedOnce) {
  SimJob job({0, 1, 2});
  job.create_window({.bytes = 64});
  Recorder recorder;
  job.process(0).events().add(recorder);
  std::uint64_t value = 7;
  for (const int origin : {1, 2}) ASSERT_EQ(job.window(origin).lock_all({}), Error::none);
  for (const int origin : {1, 2, 2}) {
    for (int i = 0; i < 3; ++i) issue(job.window(origin), on_word(OperationKind::put, &value, 0));
    EXPECT_EQ(error_of(job,
                       [&](Completion* flag) {
                         return job.window(origin).epochs().flush(0, false, flag);
                       }),
              Error::none);
  }
  // Each time all puts and the question, the first time the lock.
  EXPECT_EQ(recorder.words, (Words{"served in=call origin=1", "served in=call origin=2",
                                   "served in=call origin=2"}));
}

TEST(Events, OthersAreServedInAWaitAsLongAsAnyThreadWaits) {
  Events events;
  EXPECT_EQ(events.served_in(), ServedIn::call);
  EXPECT_NE(events.begin_wait(), events.begin_wait());
  events.end_wait();
  EXPECT_EQ(events.served_in(), ServedIn::wait);
  events.set_agent_sweeps(true);
  EXPECT_EQ(events.served_in(), ServedIn::agent);
  events.set_agent_sweeps(false);
  events.end_wait();
  EXPECT_EQ(events.served_in(), ServedIn::call);
}

TEST(Events, AQueueIsFullOnceUntilItHasSpace) {
  Scene scene({0, 0});
  const std::uint64_t value = 5;
  constexpr int many = 3 * SimNetwork::Notifications::most;
  for (int tag = 0; tag < many; ++tag) {
    Operation operation = on_word(OperationKind::put, &value, 1);
    operation.notify_arg = {NotifyKind::tag, tag, 8};
    issue(scene.job.window(0), operation);
  }
  for (int i = 0; i < 10; ++i) scene.job.process(0).sweep();
  scene.job.process(1).sweep();
  scene.job.process(0).sweep();
  std::erase_if(scene.recorder.words,
                [](const std::string& word) { return !word.starts_with("queue"); });
  EXPECT_EQ(scene.recorder.words,
            (Words{"queue_full target=1", "queue_freed target=1", "queue_full target=1"}));
}

TEST(Events, EachUseOfACollectiveHasItsNumbers) {
  Plans plans({0, 0});
  Recorder recorder;
  plans.job().process(0).events().add(recorder);
  plans.pass(1, 0, 1);
  plans.make();
  plans.use();
  // The start takes the data that have come.
  plans.start(0);
  plans.job().run_until_idle();
  plans.start(1);
  std::erase_if(recorder.words, [](const std::string& word) { return !word.starts_with("use"); });
  EXPECT_EQ(recorder.words, (Words{"use_begun collective=1 use=1", "use_over collective=1 use=1",
                                   "use_begun collective=1 use=2"}));
  plans.job().run_until_idle();
  EXPECT_EQ(recorder.words.back(), "use_over collective=1 use=2");
}

/// The steps of an exclusive lock of rank 1.
Words steps(const std::vector<std::string>& names, int epoch, bool used) {
  Words words;
  for (const std::string& name : names) {
    words.push_back(name + " kind=lock target=1 epoch=" + std::to_string(epoch));
    if (name == "granted" || name == "told") words.back() += " access=0";
    if (used && (name == "told" || name == "epoch_closed")) words.back() += " used";
    words.back() += " exclusive";
  }
  return words;
}
Words opening(int epoch) {
  return steps({"epoch_opened", "epoch_activated", "granted"}, epoch, false);
}
Words end(int epoch, bool used) {
  return steps({"epoch_closed", "told", "epoch_completed"}, epoch, used);
}

Words joined(const std::vector<Words>& parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct FreeLocks : testing::Test {
  FreeLocks() {
    job.process(0).events().add(recorder, HotPaths::locks);
    job.create_window({.bytes = 64});
  }

  Recorder recorder;
  SimJob job{{0, 0}};
};

TEST_F(FreeLocks, AreToldAtOnceToWhomAsksForLocks) {
  Window& window = job.window(0);
  ASSERT_EQ(window.lock(true, 1, {}), Error::none);
  EXPECT_EQ(recorder.words, opening(1));
  EXPECT_NE(window.find_address(1, 0, 8), nullptr);
  EXPECT_TRUE(window.unlock(1, nullptr).done);
  ASSERT_EQ(window.lock(true, 1, {}), Error::none);
  EXPECT_TRUE(window.unlock(1, nullptr).done);
  EXPECT_EQ(recorder.words, joined({opening(1), end(1, true), opening(2), end(2, false)}));
}

TEST_F(FreeLocks, AreToldOnceIfAnOperationTakesTheGeneralPath) {
  Window& window = job.window(0);
  ASSERT_EQ(window.lock(true, 1, {}), Error::none);
  EXPECT_NE(window.find_address(1, 0, 8), nullptr);
  std::uint64_t value = 7;
  ASSERT_TRUE(window.epochs().issue(on_word(OperationKind::put, &value, 1)).ok());
  EXPECT_TRUE(window.unlock(1, nullptr).done);
  std::erase_if(recorder.words,
                [](const std::string& word) { return word.starts_with("operation"); });
  EXPECT_EQ(recorder.words, joined({opening(1), end(1, true)}));
}

struct InvariantDeath : testing::Test {
  InvariantDeath() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  void report(EventKind kind) {
    checks.on({.kind = kind}, {.window = 3, .rank = 1, .epoch = &epoch, .target = &target});
  }

  InvariantChecks checks;
  Epoch epoch;
  Target target;
};

TEST_F(InvariantDeath, AnEpochThatCompletesTwice) {
  epoch.kind = EpochKind::lock;
  epoch.active = epoch.closed = true;
  report(EventKind::epoch_completed);
  epoch.completed = true;
  EXPECT_DEATH(report(EventKind::epoch_completed),
               "window 3, rank 1: of the lock epoch 0 the completion comes twice");
}

TEST_F(InvariantDeath, AnEpochThatCompletesBeforeATargetIsTold) {
  epoch.active = epoch.closed = true;
  epoch.unsignaled = 1;
  EXPECT_DEATH(report(EventKind::epoch_completed), "before all targets are told");
}

TEST_F(InvariantDeath, AnEpochThatCompletesBeforeItsOperations) {
  epoch.active = epoch.closed = true;
  epoch.attention = 1;
  EXPECT_DEATH(report(EventKind::epoch_completed), "before its operations'");
}

TEST_F(InvariantDeath, ATargetThatIsToldBeforeItsOperationsAreOver) {
  RecordedOperation recorded;
  target.waiting.append(recorded);
  EXPECT_DEATH(report(EventKind::told), "with operations waiting for it");
  target.waiting = {};
  target.reads = 1;
  EXPECT_DEATH(report(EventKind::told), "with transfers under way");
}

TEST_F(InvariantDeath, ANumberThatRunsAhead) {
  for (const EpochKind kind : {EpochKind::access, EpochKind::exposure}) {
    epoch.kind = kind;
    target.id = 1;
    EXPECT_DEATH(report(EventKind::told), "runs ahead");
  }
}

}  // namespace
}  // namespace oriel::test
