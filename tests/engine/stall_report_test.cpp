// SPDX-License-Identifier: BSD-3-Clause
// Reports of ranks that wait for long (B2): which rank waits for which, and what these do.
#include "engine/stalls/long_wait.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <regex>
#include <set>
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

  /// Sweeps on all ranks until done() is true. Their windows have no agents.
  template <typename Done>
  static testing::AssertionResult sweep_all(SimRanks& all, Done&& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      for (int rank = 0; rank < all.count(); ++rank) all[rank].running().process.sweep();
      if (std::chrono::steady_clock::now() > until) return testing::AssertionFailure();
    }
    return testing::AssertionSuccess();
  }
  static std::vector<Window*> make_windows_without_agents(SimRanks& all) {
    return all.make_windows([](WindowDraft& draft) { draft.terms.no_locks = true; });
  }
  /// The ranks for whose entry to a fence the window's rank waits, as it knows.
  static std::set<int> late_ranks(Window& window) {
    std::set<int> late;
    for (const Awaited& awaited : window.epochs().awaited()) {
      if (awaited.condition == Awaited::Condition::fence) late.insert(awaited.rank);
    }
    return late;
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

TEST_F(StallReport, NamesLateRanksOfAFenceBetweenNodes) {
  SimRanks all({0, 0, 1}, 1);
  const std::vector<Window*> windows = make_windows_without_agents(all);
  enter_fence(*windows[0]);
  enter_fence(*windows[2]);
  LongWait near = fence_wait(all[0], *windows[0]);
  LongWait far(all[2].engine, windows[2]->events(), {WaitReason::window});
  EXPECT_EQ(near.report(), "");
  EXPECT_EQ(far.report(), "");
  ASSERT_TRUE(sweep_all(all, [&] { return !late_ranks(*windows[2]).empty(); }));
  EXPECT_EQ(report_of(near),
            "oriel: rank 0 of MPI_COMM_WORLD (process P) on H has waited for N s in a fence.\n"
            "  on window number 1, in which this is rank 0 of 3, it waits\n"
            "    for rank 1 to enter the fence. That is rank 1 of MPI_COMM_WORLD (process P), "
            "which is in no call of Oriel's that waits; it runs.\n");
  EXPECT_EQ(report_of(far),
            "oriel: rank 2 of MPI_COMM_WORLD (process P) on H has waited for N s in a collective "
            "call on a window.\n"
            "  on window number 1, in which this is rank 2 of 3, it waits\n"
            "    for rank 1 to make this call. That rank is on another node.\n");
}

TEST_F(StallReport, FindsCirclesOfFencesBetweenNodes) {
  SimRanks all({0, 0, 1}, 1);
  const std::vector<Window*> one = make_windows_without_agents(all);
  const std::vector<Window*> other = make_windows_without_agents(all);
  enter_fence(*one[0]);
  enter_fence(*other[1]);
  LongWait first = fence_wait(all[0], *one[0]);
  LongWait second = fence_wait(all[1], *other[1]);
  EXPECT_EQ(first.report(), "");
  EXPECT_EQ(second.report(), "");
  EXPECT_NE(report_of(first).find("These wait for one another"), std::string::npos);
}

TEST_F(StallReport, EachRankLearnsWhichRankOfAnyNodeIsLate) {
  for (const std::vector<int>& node_of :
       {std::vector{0, 1}, {0, 1, 0, 1, 2}, {0, 0, 1, 1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
    SimRanks all(node_of, 1);
    const std::vector<Window*> windows = make_windows_without_agents(all);
    for (int late = 0; late < all.count(); ++late) {
      SCOPED_TRACE(late);
      const auto others_know = [&] {
        bool know = true;
        for (int rank = 0; rank < all.count(); ++rank) {
          // Each rank queries, as in a long wait.
          const std::set<int> known = late_ranks(*windows[static_cast<std::size_t>(rank)]);
          know &= rank == late || known == std::set{late};
        }
        return know;
      };
      for (int rank = 0; rank < all.count(); ++rank) {
        if (rank != late) enter_fence(*windows[static_cast<std::size_t>(rank)]);
      }
      ASSERT_TRUE(sweep_all(all, others_know));
      flags_.emplace_back();
      windows[static_cast<std::size_t>(late)]->epochs().fence(no_succeed(), true, &flags_.back());
      ASSERT_TRUE(sweep_all(all, [&] {
        return std::ranges::all_of(windows,
                                   [](Window* window) { return window->epochs().quiet(); });
      }));
    }
  }
}

// A rank that has entered is named no longer, although another one keeps the fence from ending.
TEST_F(StallReport, OneOfSeveralLateRanksEnters) {
  SimRanks all({0, 0, 1, 1, 2, 2, 2}, 1);
  const std::vector<Window*> windows = make_windows_without_agents(all);
  const auto all_know = [&](const std::set<int>& late) {
    bool know = true;
    for (const int rank : {0, 2, 3, 5, 6}) {
      const std::set<int> known = late_ranks(*windows[static_cast<std::size_t>(rank)]);
      know &= !known.empty() && std::ranges::includes(late, known);
    }
    return know;
  };
  for (const int rank : {0, 2, 3, 5, 6}) enter_fence(*windows[static_cast<std::size_t>(rank)]);
  ASSERT_TRUE(sweep_all(all, [&] { return all_know({1, 4}); }));
  enter_fence(*windows[4]);
  EXPECT_TRUE(sweep_all(all, [&] { return all_know({1}); }));
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
