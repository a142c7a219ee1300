// SPDX-License-Identifier: BSD-3-Clause
// B2, G2: the calls of ranks that wait for a rank that has ended fail by a sentence that names it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "engine/progress/waiting.hpp"
#include "engine/windows/leave_window.hpp"
#include "engine/windows/make_window.hpp"
#include "shm_processes.hpp"
#include "support/calls.hpp"
#include "support/sim_ranks.hpp"
#include "transport/shm/process_block.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel::test {
namespace {

/// Three ranks on nodes of their own, of which the last one ends.
class LostRank : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int lost = 2;

  LostRank() {
    for (int rank = 0; rank < all_.count(); ++rank) all_[rank].networks.direct = GetParam();
  }

  Window& window(int rank) { return *windows_[static_cast<std::size_t>(rank)]; }
  /// Calls body(rank) on the ranks that do not end, with their process locks.
  template <typename Body>
  void run_survivors(Body&& body) {
    all_.run([&](int rank) {
      if (rank == lost) return;
      const Guard guard(all_[rank].engine.lock);
      body(rank);
    });
  }
  template <typename Call>
  EngineFailure call(int rank, const Wait& wait, Call&& call) {
    return block(all_[rank].engine, window(rank), wait, call);
  }
  EngineFailure fence(int rank) {
    return call(rank, {WaitReason::fence}, [&](Completion* completion) {
      return window(rank).epochs().fence(no_succeed(), true, completion);
    });
  }
  EngineFailure unlock(int rank, int target) {
    return call(rank, {WaitReason::unlock, target},
                [&](Completion* completion) { return window(rank).unlock(target, completion); });
  }
  static void expect_lost(const EngineFailure& failed) {
    EXPECT_EQ(failed.error, Error::peer_lost);
    EXPECT_STREQ(
        failed.reason,
        "rank 2 of the window has ended or cannot be reached, so this call cannot complete");
  }

  SimRanks all_{{0, 1, 2}, 1};
  static constexpr std::uint64_t bytes = 1 << 20;
  std::vector<Window*> windows_ = all_.make_windows({}, bytes);
};

TEST_P(LostRank, EndsFences) {
  all_.set_life(lost, SimNetwork::Life::ended);
  run_survivors([&](int rank) { expect_lost(fence(rank)); });
}

TEST_P(LostRank, EndsAFenceThatOthersWaitIn) {
  std::atomic<int> waiting{0};
  std::thread ends([&] {
    while (waiting != 2) std::this_thread::yield();
    all_.set_life(lost, SimNetwork::Life::ended);
  });
  run_survivors([&](int rank) {
    ++waiting;
    expect_lost(fence(rank));
  });
  ends.join();
}

TEST_P(LostRank, EndsUnlocks) {
  all_.set_life(lost, SimNetwork::Life::ended);
  const std::uint64_t value = 7;
  run_survivors([&](int rank) {
    EXPECT_EQ(window(rank).lock(true, lost, {}), Error::none);
    issue(window(rank), on_word(OperationKind::put, &value, lost));
    expect_lost(unlock(rank, lost));
  });
}

TEST_P(LostRank, EndsWaitsForItsLock) {
  // It dies with the lock of rank 0.
  const std::uint64_t value = 7;
  {
    Engine& engine = all_[lost].engine;
    const Guard guard(engine.lock);
    EXPECT_EQ(window(lost).lock(true, 0, {}), Error::none);
    issue(window(lost), on_word(OperationKind::put, &value, 0));
    EXPECT_FALSE(call(lost, {WaitReason::flush, 0}, [&](Completion* completion) {
      return window(lost).epochs().flush(0, false, completion);
    }));
  }
  all_.set_life(lost, SimNetwork::Life::ended);
  run_survivors([&](int rank) {
    if (rank != 1) return;
    EXPECT_EQ(window(1).lock(true, 0, {}), Error::none);
    issue(window(1), on_word(OperationKind::put, &value, 0));
    expect_lost(unlock(1, 0));
  });
}

TEST_P(LostRank, EndsFreeingAWindow) {
  all_.set_life(lost, SimNetwork::Life::ended);
  run_survivors([&](int rank) {
    EngineFailure failed;
    expect_lost(leave_window(all_[rank].engine, window(rank), failed));
    EXPECT_FALSE(failed);
  });
}

TEST_P(LostRank, IsNotAwaitedBeforeMpiEnds) {
  all_.set_life(lost, SimNetwork::Life::ended);
  run_survivors([&](int rank) {
    await_other_ranks(all_[rank].engine, {&window(rank)});
    await_last_sends(all_[rank].engine);
    EXPECT_TRUE(all_[rank].running().drained());
  });
}

TEST_P(LostRank, CannotTakePartInAWindow) {
  for (int rank = 0; rank < all_.count(); ++rank) all_[rank].comm.forget_peers();
  all_[0].networks.unreachable = {lost};
  all_.run([&](int rank) {
    const auto draft = all_[rank].make_draft(all_[rank].comm);
    draft->begin(64, 1);
    EXPECT_EQ(make_window(*draft), 0);
    EXPECT_EQ(draft->error, Error::system);
    EXPECT_EQ(draft->reason, std::string(rank == 0 ? "" : "rank 0 (node0) could not take part: ") +
                                 "rank 2 (node2) cannot be reached: its node does not answer");
  });
}

/// Only transfers notice that the memory of a process is gone.
class LostMemory : public LostRank {};

// It still counts as alive.
TEST_P(LostMemory, IsNamedWhileItEnds) {
  all_.set_life(lost, SimNetwork::Life::ending);
  const std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t));
  run_survivors([&](int rank) {
    Operation put = on_word(OperationKind::put, values.data(), lost);
    put.target_count = put.origin.count = values.size();
    EXPECT_EQ(window(rank).lock(true, lost, {}), Error::none);
    issue(window(rank), put);
    expect_lost(unlock(rank, lost));
  });
}

INSTANTIATE_TEST_SUITE_P(Networks, LostRank, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Direct" : "ByMessages"; });
INSTANTIATE_TEST_SUITE_P(Direct, LostMemory, ::testing::Values(true));

/// Two ranks of a node. To rank 0, the process of rank 1 is a child that has the arena of rank 1
/// and a copy of its private memory.
class LostOnNode : public ::testing::Test {
 protected:
  LostOnNode()
      : child_([] {
          // The first thread ends at once if it is told to; the process then has no memory, but
          // counts as alive because of the second thread.
          std::thread([] {
            while (true) ::pause();
          }).detach();
          while (!ends_->load()) ::usleep(100);
          ::syscall(SYS_exit, 0);
          return 0;
        }) {
    all_.run([&](int rank) {
      SimRank& own = all_[rank];
      const auto draft = own.make_draft(own.comm);
      draft->flavor = WindowFlavor::created;
      draft->base = &memory_[static_cast<std::size_t>(rank)];
      draft->begin(sizeof memory_[0], 1);
      if (rank == 1) {
        draft->mine.process.arena.pid = child_.pid();
        draft->mine.process.start = process_start(child_.pid());
      }
      EXPECT_EQ(make_window(*draft), 0);
      if (rank == 0) window_ = draft->window;
    });
  }
  ~LostOnNode() override { ends_->store(false); }

  template <typename Call>
  EngineFailure call(const Wait& wait, Call&& call) {
    return block(all_[0].engine, *window_, wait, call);
  }
  void end_first_thread() {
    ends_->store(true);
    std::array<void*, 1> word;
    const std::array runs{
        oriel::Run{&word, reinterpret_cast<std::uintptr_t>(&memory_[1]), sizeof word}};
    NodeServices& node = all_[0].running().transports.node();
    while (node.copy(window_->member(1).process, false, runs) != Error::peer_lost) ::usleep(100);
    EXPECT_TRUE(node.alive(window_->member(1).process));
  }

  static inline auto* const ends_ =
      new (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          std::atomic<bool>(false);
  std::array<std::array<std::uint64_t, 8>, 2> memory_{};
  SimRanks all_{2};
  shm_test::Child child_;
  Window* window_ = nullptr;
};

TEST_F(LostOnNode, EndsFences) {
  child_.kill();
  child_.join();
  const EngineFailure failed = call({WaitReason::fence}, [&](Completion* completion) {
    return window_->epochs().fence(no_succeed(), true, completion);
  });
  EXPECT_EQ(failed.error, Error::peer_lost);
  EXPECT_STREQ(failed.reason, "rank 1 of the window has ended, so this call cannot complete");
}

TEST_F(LostOnNode, IsNamedByAnOperationWhileItEnds) {
  end_first_thread();
  const std::uint64_t value = 7;
  EXPECT_EQ(window_->lock(true, 1, {}), Error::none);
  EXPECT_EQ(window_->epochs().issue(on_word(OperationKind::put, &value, 1)).error,
            Error::peer_lost);
  EXPECT_STREQ(window_->reason(), "rank 1 of the window has ended");
}

// Puts in a row are sent together by the flush.
TEST_F(LostOnNode, IsNamedByAFlushWhileItEnds) {
  std::uint64_t value = 7;
  const auto put = [&] { return window_->try_copy(true, 1, 0, &value, sizeof value, true); };
  EXPECT_EQ(window_->lock(true, 1, {}), Error::none);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(put());
  end_first_thread();
  const EngineFailure failed = call({WaitReason::flush, 1}, [&](Completion* completion) {
    return window_->epochs().flush(1, false, completion);
  });
  EXPECT_EQ(failed.error, Error::peer_lost);
  EXPECT_STREQ(failed.reason, "rank 1 of the window has ended, so this call cannot complete");
}

}  // namespace
}  // namespace oriel::test
