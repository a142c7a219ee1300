// SPDX-License-Identifier: BSD-3-Clause
// The events that a process tells of its epochs and operations, and the checks of invariants 3 and
// 6 on them.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/epoch/events.hpp"
#include "core/epoch/invariant_checks.hpp"
#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// The events of one rank, a word each.
class Recorder final : public EventSink {
 public:
  void epoch(const EventSource&, EpochStep step, const Epoch& epoch) override {
    words.push_back(std::string(name_of(epoch.kind)) + " " + name_of(step));
  }
  void told(const EventSource&, const Epoch& epoch, const Target& target) override {
    words.push_back(std::string(name_of(epoch.kind)) + " told " + std::to_string(target.rank));
  }
  void issued(const EventSource& source, const Operation& operation, Protocol protocol) override {
    EXPECT_EQ(source.rank, 0);
    words.push_back(std::string(name_of(operation.kind)) + " by " + name_of(protocol));
  }
  void done(const EventSource&, const RecordedOperation& recorded) override {
    words.push_back(std::string(name_of(recorded.operation.kind)) + " done");
  }

  std::vector<std::string> words;
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

using Words = std::vector<std::string>;

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
            (Words{"access opened", "access activated", "put by stored", "access closed"}));
  scene.recorder.words.clear();
  ASSERT_EQ(scene.job.window(1).epochs().post(origins, {}), Error::none);
  scene.job.run_until_idle();
  EXPECT_TRUE(completed.done());
  EXPECT_EQ(scene.recorder.words, (Words{"put done", "access told 1", "access completed"}));
}

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
  ASSERT_EQ(epochs.open_lock_all({}), Error::none);
  EXPECT_EQ(scene.recorder.words, (Words{"lock_all opened", "lock_all deferred"}));
  scene.recorder.words.clear();
  const std::array origins{0};
  ASSERT_EQ(scene.job.window(1).epochs().post(origins, {}), Error::none);
  scene.job.run_until_idle();
  EXPECT_EQ(scene.recorder.words, Words{"lock_all activated"});
}

TEST(Events, NobodyIsToldOfTheHotPath) {
  Scene scene({0, 0});
  Window& window = scene.job.window(0);
  ASSERT_EQ(window.lock(true, 1, {}), Error::none);
  scene.recorder.words.clear();
  EXPECT_NE(window.find_mapped(1, 0, 8), nullptr);
  EXPECT_TRUE(window.flushed(1, false));
  EXPECT_TRUE(window.unlock(1, nullptr).done);
  EXPECT_EQ(scene.recorder.words, Words{});
}

struct InvariantDeath : testing::Test {
  InvariantDeath() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  InvariantChecks checks;
  EventSource source{.window = 3, .rank = 1};
  Epoch epoch;
  Target target;
};

TEST_F(InvariantDeath, AnEpochThatCompletesTwice) {
  epoch.kind = EpochKind::lock;
  epoch.active = epoch.closed = true;
  checks.epoch(source, EpochStep::completed, epoch);
  epoch.completed = true;
  EXPECT_DEATH(checks.epoch(source, EpochStep::completed, epoch),
               "window 3, rank 1: of the lock epoch 0 the completion comes twice");
}

TEST_F(InvariantDeath, AnEpochThatCompletesBeforeATargetIsTold) {
  epoch.active = epoch.closed = true;
  epoch.untold = 1;
  EXPECT_DEATH(checks.epoch(source, EpochStep::completed, epoch), "before all targets are told");
}

TEST_F(InvariantDeath, AnEpochThatCompletesBeforeItsOperations) {
  epoch.active = epoch.closed = true;
  epoch.attention = 1;
  EXPECT_DEATH(checks.epoch(source, EpochStep::completed, epoch), "before its operations'");
}

TEST_F(InvariantDeath, ATargetThatIsToldBeforeItsOperationsAreOver) {
  RecordedOperation recorded;
  target.waiting.append(recorded);
  EXPECT_DEATH(checks.told(source, epoch, target), "with operations waiting for it");
  target.waiting = {};
  target.reads = 1;
  EXPECT_DEATH(checks.told(source, epoch, target), "with transfers under way");
}

TEST_F(InvariantDeath, ANumberThatRunsAhead) {
  for (const EpochKind kind : {EpochKind::access, EpochKind::exposure}) {
    epoch.kind = kind;
    target.id = 1;
    EXPECT_DEATH(checks.told(source, epoch, target), "runs ahead");
  }
}

}  // namespace
}  // namespace oriel::test
