// SPDX-License-Identifier: BSD-3-Clause
// Counts of a process whose readers begin and end while another thread waits.
#include "engine/record/event_counts.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace oriel {
namespace {

constexpr auto fence = static_cast<std::size_t>(WaitReason::fence);

struct CountedWaits : testing::Test {
  CountedWaits() {
    process.set_clock([] { return time; });
    time = 1'000;
  }
  EventCounts::Count fence_waits() const { return events.counts().waits[fence]; }

  static inline std::uint64_t time = 0;
  Events process;
  WindowEvents window{process, {}};
  EventCounts events;
};

TEST_F(CountedWaits, AWaitThatHadBegunBeforeTheSinkWasAddedIsNotCounted) {
  const Wait before = window.begin_wait({WaitReason::fence});
  events.listen(process);
  const Wait after = window.begin_wait({WaitReason::fence});
  window.end_wait(before);
  EXPECT_EQ(fence_waits().times, 0u);
  EXPECT_EQ(fence_waits().amount, 0u);
  window.end_wait(after);
  EXPECT_EQ(fence_waits().times, 1u);
}

// A handle that is started within a wait subtracts what it reads then.
TEST_F(CountedWaits, TheTimeOfAWaitGrowsWhileItLasts) {
  events.listen(process);
  const Wait first = window.begin_wait({WaitReason::fence});
  time += 10;
  const Wait second = window.begin_wait({WaitReason::fence});
  time += 100;
  EXPECT_EQ(fence_waits().times, 0u);
  EXPECT_EQ(fence_waits().amount, 210u);
  window.end_wait(first);
  time += 1'000;
  window.end_wait(second);
  time += 10'000;
  EXPECT_EQ(fence_waits().times, 2u);
  EXPECT_EQ(fence_waits().amount, 1'210u);
}

// A recorder asks for the locks that are free; they stay out of the counts all the same.
TEST_F(CountedWaits, LocksThatAreFreeAreNotCountedBesideARecorder) {
  class Locks final : public EventSink {
   public:
    void on(const Event& event, const EventSource&) override {
      acquired += event.kind == EventKind::granted;
    }
    int acquired = 0;
  };
  Locks recorder;
  process.add(recorder, HotPaths::locks);
  events.listen(process);
  Epoch epoch;
  epoch.kind = EpochKind::lock;
  window.free_lock_acquired(epoch);
  window.free_lock_released(epoch);
  EXPECT_EQ(recorder.acquired, 1);
  for (const EventCounts::Count& count : events.counts().epochs) EXPECT_EQ(count.times, 0u);
}

TEST_F(CountedWaits, TwoReadersListenOnce) {
  events.listen(process);
  events.listen(process);
  window.end_wait(window.begin_wait({WaitReason::fence}));
  EXPECT_EQ(fence_waits().times, 1u);
}

}  // namespace
}  // namespace oriel
