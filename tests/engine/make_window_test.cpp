// SPDX-License-Identifier: BSD-3-Clause
// Making windows over a simulated host: all ranks get a window, or all fail together.
#include "engine/windows/make_window.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/windows/node_groups.hpp"
#include "shm_processes.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t bytes = 64;

/// The results of make_window() on one rank. The process of the rank owns the window.
struct Made {
  HostCode code = 0;
  Error error = Error::none;
  std::string reason;
  Window* window = nullptr;
  void* base = nullptr;
  Intrinsic intrinsic = Intrinsic::as_asked;
  bool intrinsic_terms = false;
  SimCounts counts;
};

class MakeWindow : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  /// Changes a rank's draft before the window is made.
  using Prepare = std::function<void(WindowDraft&)>;

  /// A draft of one rank, which has not begun.
  std::unique_ptr<WindowDraft> draft_of(int rank, HostComm& comm) {
    auto draft = all_[rank].make_draft(comm);
    draft->terms.no_locks = true;
    return draft;
  }
  std::vector<Made> make(const Prepare& prepare = {}) {
    std::vector<Made> made(ranks);
    all_.run([&](int rank) {
      SimComm& comm = all_[rank].comm;
      comm.take_counts();
      const auto draft = draft_of(rank, comm_of(rank));
      if (prepare) prepare(*draft);
      const std::uint64_t own = draft->shared() ? bytes * static_cast<unsigned>(rank + 1) : bytes;
      draft->begin(sizes_.empty() ? own : sizes_[static_cast<std::size_t>(rank)], 1);
      Made& result = made[static_cast<std::size_t>(rank)];
      result.code = make_window(*draft);
      result.error = draft->error;
      result.reason = draft->reason;
      result.window = draft->window;
      result.base = draft->base;
      result.intrinsic = draft->intrinsic;
      result.intrinsic_terms = draft->terms.intrinsic;
      result.counts = comm.take_counts();
    });
    return made;
  }
  /// The communicator that the rank makes its windows on.
  virtual HostComm& comm_of(int rank) { return all_[rank].comm; }
  static std::string name_of(int rank) {
    return "rank " + std::to_string(rank) + " (" + Node::here().name.data() + ")";
  }

  SimRanks all_{ranks};
  std::vector<std::uint64_t> sizes_;  // by rank; empty: the usual ones
};

TEST_F(MakeWindow, GivesEachRankTheMemoryOfAll) {
  const std::vector<Made> made = make();
  for (int rank = 0; rank < ranks; ++rank) {
    const Made& own = made[static_cast<std::size_t>(rank)];
    ASSERT_EQ(own.code, 0);
    ASSERT_NE(own.window, nullptr) << own.reason;
    EXPECT_FALSE(own.window->remote());
    std::memset(own.base, rank + 1, bytes);
  }
  for (const Made& own : made) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::byte* there = own.window->member(rank).base;
      ASSERT_NE(there, nullptr);
      EXPECT_EQ(there[bytes - 1], std::byte(rank + 1));
    }
  }
}

TEST_F(MakeWindow, OnAKnownCommunicatorAnnouncesAndNothingElse) {
  for (const Made& own : make()) EXPECT_EQ(own.counts, (SimCounts{.gathers = 2, .reductions = 1}));
  for (const Made& own : make()) {
    EXPECT_NE(own.window, nullptr);
    EXPECT_EQ(own.counts, SimCounts{.gathers = 1});
  }
  // One rank that does not know the others suffices.
  all_[1].comm.forget_peers();
  for (const Made& own : make()) EXPECT_EQ(own.counts, (SimCounts{.gathers = 2, .reductions = 1}));
}

TEST_F(MakeWindow, FailsOnAllRanksByTheFailureOfOne) {
  const auto made = make([](WindowDraft& draft) {
    if (draft.rank == 1) draft.fail(Error::memory, "there is no memory left.");
  });
  for (const Made& own : made) {
    EXPECT_EQ(own.code, 0);
    EXPECT_EQ(own.window, nullptr);
    EXPECT_EQ(own.error, Error::memory);
  }
  EXPECT_EQ(made[1].reason, "there is no memory left");
  EXPECT_EQ(made[0].reason, name_of(1) + " could not take part: there is no memory left");
  EXPECT_EQ(made[2].reason, made[0].reason);
  // A rank that has failed knows no peers, and no rank knows it.
  for (const Made& own : make()) EXPECT_EQ(own.counts, (SimCounts{.gathers = 2, .reductions = 1}));
}

TEST_F(MakeWindow, FailsAfterAllRanksKnowEachOther) {
  make();
  for (const Made& own : make([](WindowDraft& draft) {
         if (draft.rank == 2) draft.fail(Error::size, "the size is negative");
       })) {
    EXPECT_EQ(own.error, Error::size);
  }
}

TEST_F(MakeWindow, FailsByOneErrorIfRanksHaveSeveral) {
  const auto made = make([](WindowDraft& draft) {
    if (draft.rank == 0) draft.fail(Error::argument, "an argument is null");
    if (draft.rank == 2) draft.fail(Error::size, "the size is negative");
  });
  for (const Made& own : made) EXPECT_EQ(own.error, Error::size);
  EXPECT_EQ(made[0].reason, name_of(2) + " could not take part: the size is negative");
  EXPECT_EQ(made[1].reason, made[0].reason);
}

// An offset without an extent would say that XPMEM exposes the memory.
TEST(AnnouncementsTest, NoMemoryIsLaidOutWhereRankZeroHasNone) {
  Announcements announced;
  announced.by_rank.resize(3);
  announced.by_rank[1].memory.bytes = bytes;
  announced.lay_out_contiguously();
  for (const Announcement& rank : announced.by_rank) EXPECT_EQ(rank.memory.space(), 0u);
}

TEST_F(MakeWindow, FailsOnAllRanksIfOneHasNoEngine) {
  std::vector<Made> made(ranks);
  all_.run([&](int rank) {
    const auto draft = draft_of(rank, all_[rank].comm);
    if (rank != 0) draft->begin(bytes, 1);
    if (rank == 0) draft->fail(Error::system, "MPI has not been started");
    Made& own = made[static_cast<std::size_t>(rank)];
    own.code = make_window(*draft);
    own.error = draft->error;
    own.reason = draft->reason;
  });
  for (const Made& own : made) EXPECT_EQ(own.error, Error::system);
  EXPECT_EQ(made[2].reason, name_of(0) + " could not take part: MPI has not been started");
}

TEST_F(MakeWindow, LaysSharedMemoryOutContiguously) {
  const auto made = make([](WindowDraft& draft) { draft.flavor = WindowFlavor::shared; });
  for (int rank = 0; rank < ranks; ++rank) {
    const Made& own = made[static_cast<std::size_t>(rank)];
    ASSERT_NE(own.window, nullptr) << own.reason;
    EXPECT_EQ(own.counts, (SimCounts{.gathers = 2, .reductions = 2}));
    const std::byte* first = own.window->member(0).base;
    EXPECT_EQ(own.window->member(1).base, first + bytes);
    EXPECT_EQ(own.window->member(2).base, first + 3 * bytes);
    EXPECT_EQ(own.base, own.window->member(rank).base);
  }
}

TEST_F(MakeWindow, RefusesSizesThatAreTogetherMoreThanAnAddress) {
  sizes_.assign(ranks, std::uint64_t{1} << 62);
  const auto made = make([](WindowDraft& draft) { draft.flavor = WindowFlavor::shared; });
  for (const Made& own : made) {
    EXPECT_EQ(own.error, Error::size);
    EXPECT_EQ(own.reason, "the sizes of all ranks together are more than an address can say");
  }
}

TEST_F(MakeWindow, GivesBackTheMemoryOfAFailedOne) {
  const std::uint64_t before = all_[0].engine.arena.allocated();
  make([](WindowDraft& draft) {
    if (draft.rank == 1) draft.fail(Error::size, "the size is negative");
  });
  EXPECT_EQ(all_[0].engine.arena.allocated(), before);
}

/// Windows on memory of the program.
class MakeWindowOfPrivateMemory : public MakeWindow {
 protected:
  std::vector<Made> create() {
    return make([&](WindowDraft& draft) {
      draft.flavor = WindowFlavor::created;
      draft.base = memory_[static_cast<std::size_t>(draft.rank)].data();
    });
  }

 private:
  std::vector<std::vector<std::byte>> memory_{ranks, std::vector<std::byte>(bytes)};
};

/// The ranks must not access each other's private memory.
class MakeWindowWithoutVm : private shm_test::Environment, public MakeWindowOfPrivateMemory {
 protected:
  MakeWindowWithoutVm() : Environment("ORIEL_VM", "0") {}
};

TEST_F(MakeWindowWithoutVm, SendsMessagesOnTheNode) {
  for (int times = 0; times < 2; ++times) {
    const auto made = create();
    for (int rank = 0; rank < ranks; ++rank) {
      const Made& own = made[static_cast<std::size_t>(rank)];
      ASSERT_NE(own.window, nullptr) << own.reason;
      EXPECT_TRUE(own.window->remote());
      for (int other = 0; other < ranks; ++other) {
        EXPECT_EQ(own.window->member(other).path == Path::messages, other != rank);
      }
      // Such ranks never know their peers.
      EXPECT_EQ(own.counts, (SimCounts{.barriers = 1, .gathers = 2, .reductions = 1}));
      EXPECT_FALSE(all_[rank].engine.agent.running());
    }
  }
}

/// Windows for which all ranks ask for intrinsic accumulates. XPMEM maps private memory of ranks 0
/// and 1 between them. Rank 2 has no memory, and no XPMEM.
class MakeWindowWithSomeXpmem : public MakeWindow {
 protected:
  MakeWindowWithSomeXpmem() {
    sizes_ = {bytes, bytes, 0};
    for (int rank = 0; rank < ranks; ++rank) {
      const shm_test::Environment setting("ORIEL_XPMEM", rank < 2 ? ORIEL_XPMEM_STAND_IN : "0");
      pages_.push_back(shm_test::file_pages(4096));
      all_[rank].running().transports.node().locate(pages_.back(), 1);  // loads XPMEM
    }
  }
  std::vector<Made> make_of(WindowFlavor flavor) {
    return make([&](WindowDraft& draft) {
      draft.flavor = flavor;
      draft.base = pages_[static_cast<std::size_t>(draft.rank)];
      draft.terms.intrinsic = true;
    });
  }

 private:
  std::vector<std::byte*> pages_;
};

TEST_F(MakeWindowWithSomeXpmem, HasNoIntrinsicAccumulates) {
  const auto made = make_of(WindowFlavor::created);
  for (const Made& own : made) {
    ASSERT_NE(own.window, nullptr) << own.reason;
    EXPECT_EQ(own.intrinsic, Intrinsic::never);
    EXPECT_FALSE(own.intrinsic_terms);
  }
  EXPECT_TRUE(made[0].window->member(1).by_space);
  EXPECT_TRUE(made[1].window->member(0).by_space);
  EXPECT_EQ(made[2].window->member(0).path, Path::system_call);
}

TEST_F(MakeWindowWithSomeXpmem, HasIntrinsicAccumulatesOnAllocatedMemory) {
  for (const Made& own : make_of(WindowFlavor::allocated)) {
    EXPECT_EQ(own.intrinsic, Intrinsic::as_asked);
    EXPECT_TRUE(own.intrinsic_terms);
  }
}

/// A communicator on which the host's collectives fail from a certain one on.
class AwkwardComm final : public SimComm {
 public:
  using SimComm::SimComm;

  HostCode allgather(const void* own, std::size_t size, void* all) override {
    if (failing_gather == 0) return 7;
    --failing_gather;
    return SimComm::allgather(own, size, all);
  }
  HostCode barrier() override { return fails_barrier ? 7 : SimComm::barrier(); }

  bool fails_barrier = false;
  int failing_gather = -1;
};

class MakeWindowOnAwkwardComm : public MakeWindowOfPrivateMemory {
 protected:
  MakeWindowOnAwkwardComm() {
    for (int rank = 0; rank < ranks; ++rank) {
      comms_.push_back(std::make_unique<AwkwardComm>(group_, rank, all_[rank].engine));
    }
  }
  HostComm& comm_of(int rank) override { return *comms_[static_cast<std::size_t>(rank)]; }

  SimGroup group_{ranks};
  std::vector<std::unique_ptr<AwkwardComm>> comms_;
};

TEST_F(MakeWindowOnAwkwardComm, DividesANodeWhoseRanksCannotMapOneAnother) {
  comms_[0]->hide(1);
  std::vector<NodeGroups> groups(ranks);
  all_.run([&](int rank) {
    const auto draft = draft_of(rank, comm_of(rank));
    draft->begin(bytes, 1);
    draft->allocate(bytes);
    Announcements announced;
    EXPECT_EQ(announce(*draft, announced), 0);
    EXPECT_FALSE(announced.conclusive);
    EXPECT_EQ(meet_node(*draft, announced, groups[static_cast<std::size_t>(rank)]), 0);
  });
  for (const NodeGroups& own : groups) {
    EXPECT_TRUE(own.divided);
    EXPECT_TRUE(own.several);
    for (int rank = 1; rank < ranks; ++rank) EXPECT_FALSE(own.together(rank, rank - 1));
  }
  EXPECT_NE(groups[0].obstacle, "");
  EXPECT_EQ(groups[1].obstacle, "");
}

TEST_F(MakeWindowOnAwkwardComm, SharesNoMemoryOnADividedNode) {
  comms_[0]->hide(1);
  for (const Made& own : make([](WindowDraft& draft) { draft.flavor = WindowFlavor::shared; })) {
    EXPECT_EQ(own.error, Error::not_shared);
    EXPECT_EQ(own.reason,
              name_of(1) + ", " + name_of(2) + " cannot share memory with " + name_of(0) +
                  ": their processes are hidden from each other, as by PID namespaces of their "
                  "own. Let them share one");
  }
}

TEST_F(MakeWindowOnAwkwardComm, PassesOnAnErrorThatTheHostHasRaised) {
  for (int gathers = 0; gathers < 2; ++gathers) {
    for (const auto& comm : comms_) comm->failing_gather = gathers;
    for (const Made& own : make()) {
      EXPECT_EQ(own.code, 7);
      EXPECT_EQ(own.error, Error::none);
      EXPECT_EQ(own.window, nullptr);
    }
  }
}

class MakeWindowWithoutABarrier : private shm_test::Environment, public MakeWindowOnAwkwardComm {
 protected:
  MakeWindowWithoutABarrier() : Environment("ORIEL_VM", "0") {}
};

TEST_F(MakeWindowWithoutABarrier, DestroysTheWindow) {
  for (const auto& comm : comms_) comm->fails_barrier = true;
  for (const Made& own : create()) {
    EXPECT_EQ(own.code, 7);
    EXPECT_EQ(own.window, nullptr);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_TRUE(all_[rank].running().process.windows().empty());
  }
}

}  // namespace
}  // namespace oriel::test
