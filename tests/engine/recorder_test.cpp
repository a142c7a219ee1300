// SPDX-License-Identifier: BSD-3-Clause
// The record of a simulated rank, and the names beside it.
#include "engine/record/recorder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/calls.hpp"
#include "transport/shm/clock.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

using Kinds = std::vector<EventKind>;
using Lines = std::vector<std::string>;

/// Rank 0 of two, which have the ranks 4 and 5 of 6 in MPI_COMM_WORLD.
class Recorded : public testing::Test {
 protected:
  explicit Recorded(const char* timeline = "0") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("ORIEL_TIMELINE", timeline, 1);
    recorder_.start(job_.process(0), folder_, {4, 6});
    job_.create_window({.bytes = 64});
  }
  ~Recorded() override {
    recorder_.stop();
    ::unsetenv("ORIEL_TIMELINE");
    std::filesystem::remove_all(folder_);
  }

  Window& window() { return job_.window(0); }
  void add_window() { recorder_.add_window(window().id(), std::array{4, 5}); }
  void lock_and_unlock() {
    ASSERT_EQ(window().lock(true, 1, {}), Error::none);
    ASSERT_TRUE(window().unlock(1, nullptr).done);
  }

  std::string record() {
    recorder_.stop();
    std::ifstream file(folder_ + "/rank-4.record", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<Event> events() {
    const std::string bytes = record();
    std::vector<Event> events((bytes.size() - RecordHead::bytes) / sizeof(Event));
    if (events.empty()) return events;
    std::memcpy(events.data(), bytes.data() + RecordHead::bytes, events.size() * sizeof(Event));
    return events;
  }
  Kinds kinds() {
    Kinds kinds;
    for (const Event& event : events()) kinds.push_back(event.kind);
    return kinds;
  }
  Lines names() const {
    std::ifstream file(folder_ + "/rank-4.names");
    Lines lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string folder_ = testing::TempDir() + "oriel-recorder.XXXXXX";
  Recorder recorder_;
  SimJob job_{{0, 0}};
};

TEST_F(Recorded, EachStepOfAFreeLockIsRecorded) {
  lock_and_unlock();
  EXPECT_EQ(kinds(), (Kinds{EventKind::epoch_opened, EventKind::epoch_activated, EventKind::granted,
                            EventKind::epoch_closed, EventKind::told, EventKind::epoch_completed}));
}

// MPI_Finalize in the child stops its recorder, too.
TEST_F(Recorded, TheChildOfAForkLeavesTheFileToItsParent) {
  lock_and_unlock();
  const pid_t child = ::fork();
  if (child == 0) {
    recorder_.disown();
    recorder_.mark_end();
    recorder_.stop();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  lock_and_unlock();
  EXPECT_EQ(kinds().size(), 12U);
}

TEST_F(Recorded, TheHeadHasTheRankInTheWorld) {
  const std::string bytes = record();
  RecordHead head;
  std::memcpy(&head.rank, bytes.data() + offsetof(RecordHead, rank), 2 * sizeof head.rank);
  EXPECT_EQ(head.rank, 4);
  EXPECT_EQ(head.ranks, 6);
}

TEST_F(Recorded, TheHeadHasTheTimeInCallsOfTheHost) {
  constexpr std::uint64_t long_enough = 2'000'000;
  const auto host_call = [] {
    const std::uint64_t begun = nanoseconds_now();
    while (nanoseconds_now() < begun + long_enough) {
    }
    return 7;
  };
  EXPECT_EQ(recorder_.host_time.during(host_call), 7);
  EXPECT_EQ(recorder_.host_time.during(host_call), 7);
  const std::string bytes = record();
  const std::uint64_t counted = recorder_.host_time.nanoseconds();
  EXPECT_GE(counted, 2 * long_enough);
  std::uint64_t in_host = 0;
  std::memcpy(&in_host, bytes.data() + offsetof(RecordHead, in_host), sizeof in_host);
  EXPECT_EQ(in_host, counted);
  // The process is not recorded any more.
  EXPECT_EQ(recorder_.host_time.during(host_call), 7);
  EXPECT_EQ(recorder_.host_time.nanoseconds(), counted);
}

TEST_F(Recorded, AWindowIsNamedOnceItIsMadeAndUsed) {
  lock_and_unlock();
  EXPECT_EQ(names(), Lines{});
  add_window();
  window().set_name("tasks\n");
  lock_and_unlock();
  lock_and_unlock();
  const std::string number = std::to_string(window().id());
  const std::string first = std::to_string(window().read_member(0).window);
  EXPECT_EQ(names(), Lines{"window\t" + number + "\t0\t" + first + "\t4-5\ttasks "});
}

TEST_F(Recorded, WaitsAtOnePlaceHaveOneCallSite) {
  const WindowEvents& events_of_window = window().events();
  for (int i = 0; i < 2; ++i)
    events_of_window.end_wait(events_of_window.begin_wait({WaitReason::flush}));
  const std::vector<Event> waits = events();
  ASSERT_EQ(waits.size(), 4u);
  EXPECT_EQ(waits[0].id, 1u);
  EXPECT_EQ(waits[2].id, 1u);
  EXPECT_EQ(waits[1].number, waits[0].number);
  EXPECT_NE(waits[2].number, waits[0].number);
  ASSERT_EQ(names().size(), 1u);
  EXPECT_TRUE(names()[0].starts_with("site\t1\t"));
}

TEST_F(Recorded, OperationsAreRecordedForATimelineOnly) {
  const std::uint64_t value = 7;
  window().events().issued(on_word(OperationKind::put, &value, 1), Protocol::message);
  EXPECT_EQ(kinds(), Kinds{});
}

struct RecordedForATimeline : Recorded {
  RecordedForATimeline() : Recorded("1") {}
};

TEST_F(RecordedForATimeline, AnOperationIsRecordedBeforeItsNotification) {
  const std::uint64_t value = 7;
  Operation operation = on_word(OperationKind::put, &value, 1);
  operation.notify_arg = {NotifyKind::tag, 3, 8};
  window().events().issued(operation, Protocol::message);
  EXPECT_EQ(kinds(), (Kinds{EventKind::operation_issued, EventKind::notification_sent}));
}

}  // namespace
}  // namespace oriel::test
