// SPDX-License-Identifier: BSD-3-Clause
// A waiting call advances the host's traffic, and shows its peers the reason of the wait.
#include "engine/progress/waiting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "engine/windows/leave_window.hpp"
#include "shm_processes.hpp"
#include "support/calls.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

class Waiting : public ::testing::Test {
 protected:
  template <typename Done, typename Lost>
  EngineFailure wait(Done&& done, Lost&& lost) {
    const Guard guard(rank_.engine.lock);
    return sweep_until(rank_.engine, events_of_no_window(rank_.engine), {WaitReason::request}, done,
                       lost);
  }
  static EngineFailure none_lost() { return {}; }

  SimGroup group_{1};
  SimRank rank_{group_, 0};
};

TEST_F(Waiting, AdvancesTheHost) {
  EXPECT_FALSE(wait([&] { return rank_.host.advanced > 1; }, none_lost));
}

TEST_F(Waiting, EndsByTheFailureOfLost) {
  const EngineFailure failed =
      wait([] { return false; }, [] { return said(Error::peer_lost, "rank 1 has ended"); });
  EXPECT_EQ(failed.error, Error::peer_lost);
  EXPECT_STREQ(failed.reason, "rank 1 has ended");
}

TEST_F(Waiting, ShowsLongWaitsOldestFirst) {
  ShmTransport& node = rank_.running().transports.shm();
  const auto shown = [&] { return node.wait_sign(node.self()).read(); };
  {
    const WindowEvents events = events_of_no_window(rank_.engine);
    LongWait first(rank_.engine, events, {WaitReason::fence});
    EXPECT_FALSE(shown().has_value());
    EXPECT_EQ(first.report(), "");
    {
      LongWait second(rank_.engine, events, {WaitReason::lock});
      EXPECT_EQ(second.report(), "");
      EXPECT_EQ(shown()->reason, static_cast<std::uint32_t>(WaitReason::fence));
    }
    EXPECT_TRUE(shown().has_value());
  }
  EXPECT_FALSE(shown().has_value());
}

// The rank that holds a lock finds out by the shared memory of the node that another one waits for
// it.
TEST(WaitingRanks, ShowTheirPeersWhatTheyWaitFor) {
  SimRanks all(2);
  const std::vector<Window*> windows = all.make_windows();
  std::atomic<bool> held{false};
  const auto unlock = [&](Engine& engine, Window& window) {
    EXPECT_FALSE(block(engine, window, {WaitReason::unlock, 1},
                       [&](Completion* completion) { return window.unlock(1, completion); }));
  };
  all.run([&](int rank) {
    Engine& engine = all[rank].engine;
    Window& window = *windows[static_cast<std::size_t>(rank)];
    if (rank == 0) {
      while (!held) std::this_thread::yield();
      EXPECT_EQ(window.lock(true, 1, {}), Error::none);
      EXPECT_FALSE(wait_until(engine, window, {WaitReason::lock, 1},
                              [&] { return window.epochs().try_hold_lock(1); }));
      unlock(engine, window);
    } else {
      EXPECT_EQ(window.lock(true, 1, {}), Error::none);
      held = true;
      ShmTransport& node = all[rank].running().transports.shm();
      std::optional<ShownWait> shown;
      while (!shown.has_value()) {
        shown = node.wait_sign(window.member(0).process).read();
        sweep_once(engine);
      }
      EXPECT_EQ(shown->reason, static_cast<std::uint32_t>(WaitReason::lock));
      EXPECT_EQ(shown->certain, 1U);
      EXPECT_EQ(shown->awaited[0], node.name().id);
      unlock(engine, window);
    }
  });
}

TEST(WaitingRanks, LeaveAWindowTogether) {
  SimRanks all(3);
  const std::vector<Window*> windows = all.make_windows();
  std::atomic<int> called{0};
  all.run([&](int rank) {
    EngineFailure failed;
    ++called;
    EXPECT_FALSE(leave_window(all[rank].engine, *windows[static_cast<std::size_t>(rank)], failed));
    EXPECT_EQ(called, 3);
    EXPECT_FALSE(failed);
  });
}

TEST(WaitingRanks, MeetBeforeMpiEnds) {
  SimRanks all(3);
  const std::vector<Window*> windows = all.make_windows();
  std::atomic<int> called{0};
  all.run([&](int rank) {
    Engine& engine = all[rank].engine;
    ++called;
    await_other_ranks(engine, {windows[static_cast<std::size_t>(rank)]});
    EXPECT_EQ(called, 3);
    await_last_sends(engine);
    EXPECT_TRUE(engine.running()->drained());
  });
}

// A rank that makes no call carries out the operations of another one by its agent.
TEST(WaitingRanks, AreServedByAgents) {
  // No rank may access another one's private memory: operations are messages.
  const shm_test::Environment environment("ORIEL_VM", "0");
  SimRanks all(2);
  std::array<std::array<std::uint64_t, 8>, 2> memory{};
  const std::vector<Window*> windows = all.make_windows([&](WindowDraft& draft) {
    draft.flavor = WindowFlavor::created;
    draft.base = &memory[static_cast<std::size_t>(draft.rank)];
  });
  std::atomic<bool> done{false};
  all.run([&](int rank) {
    EXPECT_TRUE(all[rank].engine.agent.running());
    if (rank == 1) {
      while (!done) std::this_thread::yield();
      return;
    }
    Engine& engine = all[0].engine;
    const Guard guard(engine.lock);
    Window& window = *windows[0];
    const std::uint64_t value = 7;
    EXPECT_EQ(window.lock(false, 1, {}), Error::none);
    issue(window, on_word(OperationKind::put, &value, 1));
    EXPECT_FALSE(block(engine, window, {WaitReason::unlock, 1},
                       [&](Completion* completion) { return window.unlock(1, completion); }));
    done = true;
  });
  all[1].engine.agent.stop();
  EXPECT_EQ(memory[1][0], 7U);
  EXPECT_NE(all[1].engine.agent.served(), 0U);
}

// One thread may call exit() while another one is in MPI_Finalize.
TEST_F(Waiting, TwoThreadsMayStopTheAgent) {
  for (int times = 0; times < 200; ++times) {
    rank_.engine.agent.start();
    EXPECT_TRUE(rank_.engine.agent.running());
    run_on_threads(2, [&](int) { rank_.engine.agent.stop(); });
    EXPECT_FALSE(rank_.engine.agent.running());
  }
}

}  // namespace
}  // namespace oriel::test
