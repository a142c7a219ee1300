// SPDX-License-Identifier: BSD-3-Clause
// Reports of ranks that wait for long (B2): which rank waits for which, and what these do.
#include "engine/stalls/long_wait.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <deque>
#include <regex>
#include <string>
#include <vector>

#include "engine/progress/waiting.hpp"
#include "engine/stalls/stall_signal.hpp"
#include "shm_processes.hpp"
#include "support/calls.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

/// Ranks that wait, one of them on each engine. The process's signal requests the reports.
class StallReport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const shm_test::Environment setting("ORIEL_STALL_SIGNAL", std::to_string(SIGUSR2).c_str());
    stall_signal::start();
  }

  /// Enters a fence, which is not over.
  void enter_fence(Window& window) {
    flags_.emplace_back();
    ASSERT_FALSE(window.epochs().fence(no_succeed(), true, &flags_.back()).done);
  }
  static LongWait fence_wait(SimRank& rank, Window& window) {
    return {rank.engine, window.events(), {WaitReason::fence}};
  }
  /// The report of a wait that has been looked at, without times, host, and process.
  static std::string report_of(LongWait& wait) {
    ::raise(SIGUSR2);
    std::string text = wait.report();
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    const std::string process = "process " + std::to_string(::getpid());
    text = std::regex_replace(text, std::regex("[0-9]+ s\\b"), "N s");
    text = std::regex_replace(text, std::regex(process), "process P");
    text = std::regex_replace(text, std::regex(" on " + std::string(host) + " "), " on H ");
    return std::regex_replace(text, std::regex("  called by [^\n]*\n"), "");
  }

  std::deque<Flag> flags_;
};

TEST_F(StallReport, NamesRanksThatWaitForOneAnother) {
  SimRanks all(2);
  const std::vector<Window*> one = all.make_windows();
  const std::vector<Window*> other = all.make_windows();
  enter_fence(*one[0]);
  enter_fence(*other[1]);
  LongWait first = fence_wait(all[0], *one[0]);
  LongWait second = fence_wait(all[1], *other[1]);
  EXPECT_EQ(first.report(), "");
  EXPECT_EQ(second.report(), "");
  EXPECT_EQ(report_of(first),
            "oriel: rank 0 of MPI_COMM_WORLD (process P) on H has waited for N s in a fence.\n"
            "  on window number 1, in which this is rank 0 of 2, it waits\n"
            "    for rank 1 to enter the fence. That is rank 1 of MPI_COMM_WORLD (process P), "
            "which has waited in a fence for N s, for rank 0 of MPI_COMM_WORLD (process P).\n"
            "  These wait for one another, so that none can go on: rank 1 of MPI_COMM_WORLD "
            "(process P), and this one.\n");
  EXPECT_EQ(first.report(), "") << "one report for each signal";
  EXPECT_EQ(report_of(second),
            "oriel: rank 1 of MPI_COMM_WORLD (process P) on H has waited for N s in a fence.\n"
            "  on window number 2, in which this is rank 1 of 2, it waits\n"
            "    for rank 0 to enter the fence. That is rank 0 of MPI_COMM_WORLD (process P), "
            "which has waited in a fence for N s, for rank 1 of MPI_COMM_WORLD (process P).\n"
            "  These wait for one another, so that none can go on: rank 0 of MPI_COMM_WORLD "
            "(process P), and this one.\n");
}

TEST_F(StallReport, NamesTheRankThatHasNotEntered) {
  SimRanks all(3);
  const std::vector<Window*> windows = all.make_windows();
  windows[0]->set_name("results");
  enter_fence(*windows[0]);
  enter_fence(*windows[1]);
  LongWait first = fence_wait(all[0], *windows[0]);
  LongWait second = fence_wait(all[1], *windows[1]);
  EXPECT_EQ(first.report(), "");
  EXPECT_EQ(second.report(), "");
  EXPECT_EQ(report_of(first),
            "oriel: rank 0 of MPI_COMM_WORLD (process P) on H has waited for N s in a fence.\n"
            "  on window \"results\", in which this is rank 0 of 3, it waits\n"
            "    for rank 2 to enter the fence. That is rank 2 of MPI_COMM_WORLD (process P), "
            "which is in no call of Oriel's that waits; it runs.\n");
}

TEST_F(StallReport, NamesRanksOfOtherNodes) {
  SimRanks all({0, 1}, 1);
  const std::vector<Window*> windows =
      all.make_windows([](WindowDraft& draft) { draft.terms.no_locks = true; });
  const std::array<int, 1> origin = {1};
  ASSERT_EQ(windows[0]->epochs().post(origin, {}), Error::none);
  Flag flag;
  ASSERT_FALSE(windows[0]->epochs().wait(&flag).done);
  LongWait wait(all[0].engine, windows[0]->events(), {WaitReason::exposure});
  EXPECT_EQ(wait.report(), "");
  EXPECT_EQ(report_of(wait),
            "oriel: rank 0 of MPI_COMM_WORLD (process P) on H has waited for N s in "
            "MPI_Win_wait.\n"
            "  on window number 1, in which this is rank 0 of 2, it waits\n"
            "    for rank 1 to complete its access. That rank is on another node.\n");
}

TEST_F(StallReport, DoesNotKnowTheRanksThatAreNotMakingAWindow) {
  SimRanks all(2);
  LongWait wait(all[0].engine, events_of_no_window(all[0].engine), {WaitReason::window});
  EXPECT_EQ(wait.report(), "");
  EXPECT_EQ(report_of(wait),
            "oriel: rank 0 of MPI_COMM_WORLD (process P) on H has waited for N s in a collective "
            "call on a window.\n"
            "  All ranks of the communicator have to make this call. Which have not is not "
            "known.\n");
}

/// Counts the reports that a wait lasts.
struct LastingWaits final : EventSink {
  void on(const Event& event, const EventSource&) override {
    times += event.kind == EventKind::wait_lasts;
  }
  int times = 0;
};

// The waits in the host have no begin among the events.
TEST_F(StallReport, OnlyWaitsThatHaveBegunLast) {
  LastingWaits lasting;
  SimRanks all(1);
  const std::vector<Window*> one = all.make_windows();
  Engine& engine = all[0].engine;
  engine.running()->process.events().add(lasting);
  LongWait in_host(engine, one[0]->events(), {WaitReason::window});
  in_host.report();
  EXPECT_EQ(lasting.times, 0);
  const Wait begun = one[0]->events().begin_wait({WaitReason::fence});
  LongWait wait(engine, one[0]->events(), begun);
  wait.report();
  EXPECT_EQ(lasting.times, 1);
}

// The thread that runs the host's hook checks the waits of its own engine.
TEST(HookedWaitTest, IsCheckedByTheHookOfItsEngine) {
  SimRanks all(2);
  const auto shown = [&](int rank) {
    ShmTransport& node = all[rank].running().transports.shm();
    return node.wait_sign(node.self()).read().has_value();
  };
  const HookedWait other(all[1].engine, WaitReason::window);
  const HookedWait own(all[0].engine, WaitReason::window);
  while (!shown(0)) HookedWait::look_at_all(all[0].engine);
  EXPECT_FALSE(shown(1));
}

}  // namespace
}  // namespace oriel::test
