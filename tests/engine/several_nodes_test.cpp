// SPDX-License-Identifier: BSD-3-Clause
// Windows of simulated ranks on several nodes: a network delivers the messages of different routes
// in any order.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/notify/matcher.hpp"
#include "engine/progress/waiting.hpp"
#include "engine/windows/leave_window.hpp"
#include "engine/windows/make_window.hpp"
#include "engine/windows/paths.hpp"
#include "support/calls.hpp"
#include "support/random.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

using Words = std::array<std::uint64_t, 8>;

/// The nodes of the ranks, and the capabilities of the network.
struct Nodes {
  const char* name;
  std::vector<int> node_of;
  bool direct = false;
  bool orders_writes = true;
  bool atomics = false;
  std::size_t immediate = 0;  // bytes
};

std::ostream& operator<<(std::ostream& out, const Nodes& nodes) {
  return out << nodes.name;
}

std::unique_ptr<SimRanks> make_ranks(const Nodes& nodes, std::uint64_t seed) {
  auto all = std::make_unique<SimRanks>(nodes.node_of, seed);
  all->network().set_orders_writes(nodes.orders_writes);
  all->network().set_immediate_data(nodes.immediate, SimNetwork::ArrivalOrder::in_order);
  for (int rank = 0; rank < all->count(); ++rank) {
    (*all)[rank].networks.direct = nodes.direct;
    (*all)[rank].networks.atomics = nodes.atomics;
  }
  return all;
}

/// The calls of one rank on a window.
class Caller {
 public:
  Caller(SimRank& rank, Window& window) : engine_(rank.engine), window_(window) {}

  void fence(const Assert& assertion = {}) {
    finish({WaitReason::fence}, [&](Completion* completion) {
      return window_.epochs().fence(assertion, true, completion);
    });
  }
  void lock(bool exclusive, int target) {
    const Guard guard(engine_.lock);
    EXPECT_EQ(window_.lock(exclusive, target, {}), Error::none);
  }
  void unlock(int target) {
    finish({WaitReason::unlock, target},
           [&](Completion* completion) { return window_.unlock(target, completion); });
  }
  void lock_all() {
    const Guard guard(engine_.lock);
    EXPECT_EQ(window_.lock_all({}), Error::none);
  }
  void flush_all() {
    finish({WaitReason::flush},
           [&](Completion* completion) { return window_.epochs().flush_all(false, completion); });
  }
  void unlock_all() {
    finish({WaitReason::unlock},
           [&](Completion* completion) { return window_.unlock_all(completion); });
  }
  void issue(const Operation& operation) {
    const Guard guard(engine_.lock);
    oriel::test::issue(window_, operation);
  }
  void wait_notified(int source, std::int32_t tag) {
    const Guard guard(engine_.lock);
    NotifyRequest request({source, tag}, 1);
    window_.notifications().start(request);
    EXPECT_FALSE(wait_until(engine_, window_, {WaitReason::notification, source},
                            [&] { return request.complete(); }));
    EXPECT_EQ(request.last().source, source);
  }
  void free() {
    const Guard guard(engine_.lock);
    EngineFailure failed;
    EXPECT_FALSE(leave_window(engine_, window_, failed));
    EXPECT_FALSE(failed);
    engine_.running()->process.destroy_window(window_);
  }

 private:
  template <typename Call>
  void finish(const Wait& wait, Call&& call) {
    const Guard guard(engine_.lock);
    const EngineFailure failed = block(engine_, window_, wait, call);
    EXPECT_FALSE(failed) << failed.reason;
  }

  Engine& engine_;
  Window& window_;
};

class SeveralNodes : public ::testing::TestWithParam<Nodes> {
 protected:
  /// Makes a window of the flavor, plays on it and frees it, on all ranks.
  static void play(SimRanks& all, WindowFlavor flavor, bool intrinsic) {
    const auto ranks = static_cast<std::size_t>(all.count());
    std::vector<Words> memory(ranks);
    std::vector<void*> bases(ranks);
    const std::vector<Window*> windows = all.make_windows([&](WindowDraft& draft) {
      draft.flavor = flavor;
      draft.terms.intrinsic = intrinsic;
      if (flavor != WindowFlavor::allocated) {
        draft.base = &memory[static_cast<std::size_t>(draft.rank)];
      }
    });
    all.run([&](int rank) {
      Window& window = *windows[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(window.remote());
      if (window.dynamic()) {
        const Guard guard(all[rank].engine.lock);
        Words& own = memory[static_cast<std::size_t>(rank)];
        NodeServices& node = all[rank].running().transports.node();
        EXPECT_EQ(window.attach(node.locate(&own, sizeof own)), Error::none);
      }
      Caller caller(all[rank], window);
      caller.fence();
      play(all, rank, caller, [&](int target, std::int64_t word) {
        const std::int64_t offset = word * std::int64_t{sizeof(std::uint64_t)};
        if (!window.dynamic()) return offset;
        return static_cast<std::int64_t>(
                   reinterpret_cast<std::uintptr_t>(&memory[static_cast<std::size_t>(target)])) +
               offset;
      });
      caller.free();
      EXPECT_EQ(all[rank].networks.exposures, 0);
    });
  }

  /// `at`: the displacement of a word of a rank.
  template <typename At>
  static void play(SimRanks& all, int rank, Caller& caller, At&& at) {
    const int ranks = all.count();
    const int right = (rank + 1) % ranks;
    const int left = (rank + ranks - 1) % ranks;
    const auto total = static_cast<std::uint64_t>(ranks * (ranks + 1) / 2);
    const auto one = static_cast<std::uint64_t>(rank) + 1;
    const auto read = [&](int target, std::int64_t word) {
      std::uint64_t value = 0;
      Operation get = on_word(OperationKind::get, nullptr, target, at(target, word));
      std::swap(get.origin, get.result);
      get.result.address = &value;
      caller.lock(false, target);
      caller.issue(get);
      caller.unlock(target);
      return value;
    };
    caller.issue(on_word(OperationKind::put, &one, right, at(right, 0)));
    caller.fence(no_succeed());
    EXPECT_EQ(read(rank, 0), static_cast<std::uint64_t>(left) + 1);
    EXPECT_EQ(read(right, 0), one);

    caller.lock(true, 0);
    caller.issue(on_word(OperationKind::accumulate, &one, 0, at(0, 1)));
    caller.unlock(0);
    caller.lock_all();
    for (int target = 0; target < ranks; ++target) {
      caller.issue(on_word(OperationKind::accumulate, &one, target, at(target, 2)));
    }
    caller.flush_all();
    caller.unlock_all();
    caller.fence();
    caller.fence(no_succeed());
    EXPECT_EQ(read(0, 1), total);
    EXPECT_EQ(read(right, 2), total);

    const std::uint64_t noticed = 100 + one;
    Operation notified = on_word(OperationKind::put, &noticed, right, at(right, 3));
    notified.notify_arg = {NotifyKind::tag, 5, sizeof noticed};
    caller.issue(notified);
    caller.wait_notified(left, 5);
    EXPECT_EQ(read(rank, 3), 101 + static_cast<std::uint64_t>(left));
  }
};

TEST_P(SeveralNodes, MakeUseAndFreeWindows) {
  const Seeds seeds = Seeds::from_environment(4);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("ORIEL_SEED=" + std::to_string(seed));
    const auto all = make_ranks(GetParam(), seed);
    for (const WindowFlavor flavor :
         {WindowFlavor::allocated, WindowFlavor::created, WindowFlavor::dynamic}) {
      for (const bool intrinsic : {false, true}) play(*all, flavor, intrinsic);
    }
  }
}

TEST_P(SeveralNodes, FailTogether) {
  const auto all = make_ranks(GetParam(), 1);
  const int ranks = all->count();
  for (int failing = 0; failing < ranks; ++failing) {
    std::vector<std::string> reasons(static_cast<std::size_t>(ranks));
    all->run([&](int rank) {
      SimRank& own = (*all)[rank];
      const auto draft = own.make_draft(own.comm);
      draft->begin(sizeof(Words), 1);
      if (rank == failing) draft->fail(Error::size, "the size is negative");
      if (rank == (failing + 1) % ranks) draft->fail(Error::argument, "an argument is null");
      EXPECT_EQ(make_window(*draft), 0);
      EXPECT_EQ(draft->window, nullptr);
      EXPECT_EQ(draft->error, Error::size);
      reasons[static_cast<std::size_t>(rank)] = draft->reason;
    });
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string words = rank == failing ? ""
                                                : "rank " + std::to_string(failing) + " (" +
                                                      (*all)[failing].node.name.data() +
                                                      ") could not take part: ";
      EXPECT_EQ(reasons[static_cast<std::size_t>(rank)], words + "the size is negative");
    }
    for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ((*all)[rank].networks.exposures, 0);
  }
}

TEST_P(SeveralNodes, ShareNoMemory) {
  const auto all = make_ranks(GetParam(), 1);
  all->run([&](int rank) {
    SimRank& own = (*all)[rank];
    const auto draft = own.make_draft(own.comm);
    draft->flavor = WindowFlavor::shared;
    draft->begin(sizeof(Words), 1);
    EXPECT_EQ(make_window(*draft), 0);
    EXPECT_EQ(draft->error, Error::not_shared);
    EXPECT_TRUE(draft->reason.ends_with(
        " cannot share memory with rank 0 (node0); split the communicator by MPI_COMM_TYPE_SHARED "
        "first"))
        << draft->reason;
  });
}

INSTANTIATE_TEST_SUITE_P(
    Networks, SeveralNodes,
    ::testing::Values(Nodes{"TwoByMessages", {0, 1}}, Nodes{"TwoDirect", {0, 1}, true},
                      Nodes{"ThreeUnordered", {0, 1, 2}, true, false},
                      Nodes{"TwoAndOneWithAtomics", {0, 0, 1}, true, true, true},
                      Nodes{"TwoAndTwoWithImmediateData", {0, 0, 1, 1}, true, true, false, 8},
                      Nodes{"ThreeByTurns", {0, 1, 2, 0}, true, true, true, 4}),
    [](const auto& one) { return one.param.name; });

TEST(SeveralNodesTest, DescribeTheirPaths) {
  SimRanks all({0, 0, 1, 2}, 1);
  const std::vector<Window*> windows = all.make_windows();
  EXPECT_EQ(describe_paths(all[1].running(), *windows[1]),
            "ranks 0 to 1 mapped, ranks 2 to 3 over sim");
  EXPECT_EQ(describe_network(all[1].running()), "simulated");
}

TEST(SeveralNodesTest, WithoutANetworkFail) {
  // The communicator's ranks have nodes of their own, but no network.
  SimGroup group(2);
  std::array<std::unique_ptr<SimRank>, 2> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Node node = Node::here();
    node.id += static_cast<std::uint64_t>(rank);
    ranks[static_cast<std::size_t>(rank)] = std::make_unique<SimRank>(group, rank, node);
  }
  run_on_threads(2, [&](int rank) {
    SimRank& own = *ranks[static_cast<std::size_t>(rank)];
    const auto draft = own.make_draft(own.comm);
    draft->begin(sizeof(Words), 1);
    EXPECT_EQ(make_window(*draft), 0);
    EXPECT_EQ(draft->error, Error::system);
    EXPECT_EQ(draft->reason,
              "there is no way to rank 1 (" + std::string(own.node.name.data()) +
                  "): the simulation has no network; or set ORIEL_DISABLE=1 to use the host MPI's "
                  "windows");
  });
}

}  // namespace
}  // namespace oriel::test
