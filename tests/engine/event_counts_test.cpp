// SPDX-License-Identifier: BSD-3-Clause
// Counts of a process whose readers begin and end while another thread waits.
#include "engine/record/event_counts.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

constexpr auto fence = static_cast<std::size_t>(WaitReason::fence);

EventCounts::Count fence_waits(const EventCounts& events) {
  return events.counts().waits[fence];
}

void let_pass(std::uint64_t nanoseconds) {
  const std::uint64_t end = nanoseconds_now() + nanoseconds;
  while (nanoseconds_now() < end) {
  }
}

TEST(EventCounts, AWaitThatHadBegunBeforeTheSinkWasAddedIsNotCounted) {
  EventCounts events;
  Wait wait{WaitReason::fence};
  events.wait_ended({}, wait);
  EXPECT_EQ(fence_waits(events).times, 0u);
  EXPECT_EQ(fence_waits(events).amount, 0u);
  events.wait_begun({}, wait);
  events.wait_ended({}, wait);
  EXPECT_EQ(fence_waits(events).times, 1u);
}

// A handle that is started within a wait subtracts what it reads then.
TEST(EventCounts, TheTimeOfAWaitGrowsWhileItLasts) {
  constexpr std::uint64_t passed = 1'000'000;
  EventCounts events;
  const std::uint64_t begun = nanoseconds_now();
  Wait first{WaitReason::fence};
  Wait second{WaitReason::fence};
  events.wait_begun({}, first);
  events.wait_begun({}, second);
  let_pass(passed);
  const EventCounts::Count within = fence_waits(events);
  EXPECT_EQ(within.times, 0u);
  EXPECT_GE(within.amount, 2 * passed);
  let_pass(passed);
  events.wait_ended({}, first);
  events.wait_ended({}, second);
  const EventCounts::Count all = fence_waits(events);
  EXPECT_EQ(all.times, 2u);
  EXPECT_GE(all.amount, within.amount + 2 * passed);
  EXPECT_LE(all.amount, 2 * (nanoseconds_now() - begun));
  EXPECT_EQ(fence_waits(events).amount, all.amount);
}

// A recorder asks for the locks that are free; they stay out of the counts all the same.
TEST(EventCounts, LocksThatAreFreeAreNotCountedBesideARecorder) {
  class Locks final : public EventSink {
   public:
    void free_lock_acquired(const EventSource&, const Epoch&) override { ++acquired; }
    int acquired = 0;
  };
  Events process;
  Locks recorder;
  EventCounts events;
  process.add(recorder, HotPaths::locks);
  events.listen(process);
  const WindowEvents window(process, {});
  Epoch epoch;
  epoch.kind = EpochKind::lock;
  window.free_lock_acquired(epoch);
  window.free_lock_released(epoch);
  EXPECT_EQ(recorder.acquired, 1);
  for (const EventCounts::Count& count : events.counts().epochs) EXPECT_EQ(count.times, 0u);
}

TEST(EventCounts, TwoReadersListenOnce) {
  Events process;
  EventCounts events;
  events.listen(process);
  events.listen(process);
  const WindowEvents window(process, {});
  Wait wait{WaitReason::fence};
  window.wait_begun(wait);
  window.wait_ended(wait);
  EXPECT_EQ(fence_waits(events).times, 1u);
}

}  // namespace
}  // namespace oriel
