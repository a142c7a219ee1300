// SPDX-License-Identifier: BSD-3-Clause
// Windows of simulated ranks on several nodes: a network delivers the messages of different routes
// in any order.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/notify/matcher.hpp"
#include "engine/progress/waiting.hpp"
#include "engine/windows/leave_window.hpp"
#include "engine/windows/make_window.hpp"
#include "engine/windows/paths.hpp"
#include "shm_processes.hpp"
#include "support/calls.hpp"
#include "support/random.hpp"
#include "support/sim_ranks.hpp"
#include "transport/ofi/ip_address.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/tcp_socket.hpp"

namespace oriel::test {
namespace {

using Words = std::array<std::uint64_t, 8>;

/// The nodes of the ranks, and the capabilities of the network.
struct Nodes {
  const char* name;
  std::vector<int> node_of;
  bool direct = false;
  SimNetwork::Writes writes = {};
  bool atomics = false;
  std::size_t immediate = 0;  // bytes
  bool card = false;          // direct transfers of every length
  bool one_endpoint = false;  // of messages and atomics
};

std::ostream& operator<<(std::ostream& out, const Nodes& nodes) {
  return out << nodes.name;
}

std::unique_ptr<SimRanks> make_ranks(const Nodes& nodes, std::uint64_t seed) {
  auto all = std::make_unique<SimRanks>(nodes.node_of, seed);
  all->network().set_writes(nodes.writes);
  all->network().set_immediate_data(nodes.immediate, SimNetwork::ArrivalOrder::in_order);
  for (int rank = 0; rank < all->count(); ++rank) {
    (*all)[rank].networks.direct = nodes.direct;
    if (nodes.card) (*all)[rank].networks.of_cards = {1};
    (*all)[rank].networks.atomics = nodes.atomics;
    (*all)[rank].networks.one_endpoint = nodes.one_endpoint;
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
    EXPECT_TRUE(engine_.running()->drained());
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
    caller.lock(false, right);
    caller.issue(notified);
    caller.unlock(right);
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

TEST(AtomicsOfWindows, RegisterNoMemoryThatTheMessagesEndpointHas) {
  for (const bool one_endpoint : {false, true}) {
    Nodes nodes{"", {0, 1}, true, SimNetwork::card_writes, true};
    nodes.one_endpoint = one_endpoint;
    const auto all = make_ranks(nodes, 1);
    all->make_windows([](WindowDraft& draft) { draft.terms.intrinsic = true; });
    for (int rank = 0; rank < all->count(); ++rank) {
      EXPECT_EQ((*all)[rank].networks.exposures, one_endpoint ? 1 : 2);
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
    ::testing::Values(
        Nodes{"TwoByMessages", {0, 1}}, Nodes{"TwoDirect", {0, 1}, true},
        Nodes{"ThreeUnordered", {0, 1, 2}, true, SimNetwork::delivered_writes},
        Nodes{"TwoAndOneWithAtomics", {0, 0, 1}, true, SimNetwork::card_writes, true},
        Nodes{"TwoAndTwoWithImmediateData", {0, 0, 1, 1}, true, SimNetwork::card_writes, false, 8},
        Nodes{"ThreeByCard", {0, 1, 2}, true, SimNetwork::card_writes, false, 8, true},
        Nodes{"ThreeByCardWithAtomics",
              {0, 0, 1},
              true,
              SimNetwork::card_writes,
              true,
              8,
              true,
              true},
        Nodes{"TwoByCardUnordered", {0, 1}, true, SimNetwork::delivered_writes, false, 0, true},
        Nodes{"ThreeByTurns", {0, 1, 2, 0}, true, SimNetwork::ordered_writes, true, 4}),
    [](const auto& one) { return one.param.name; });

/// Five ranks on nodes of their own, each of which ends by a message that no rank answers, to a
/// rank to which it sends no step of a fence or barrier.
class UnansweredMessages : public ::testing::Test {
 protected:
  /// The rank to which `rank` sends nothing else.
  static int unrelated(int rank) { return (rank + 3) % 5; }
  template <typename Leave>
  static void play(Leave&& leave) {
    const Seeds seeds = Seeds::from_environment(3);
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
      SCOPED_TRACE("ORIEL_SEED=" + std::to_string(seed));
      SimRanks all({0, 1, 2, 3, 4}, seed, [](const SimNetwork::Route& route) {
        return route.to == unrelated(route.from);
      });
      const std::vector<Window*> windows = all.make_windows();
      all.run([&](int rank) {
        Window& window = *windows[static_cast<std::size_t>(rank)];
        Caller caller(all[rank], window);
        const std::uint64_t value = 7;
        const int target = unrelated(rank);
        caller.lock(true, target);
        caller.issue(on_word(OperationKind::put, &value, target));
        caller.flush_all();
        caller.unlock(target);
        leave(all[rank], window, caller);
      });
    }
  }
};

// No rank polls the network after it has left.
TEST_F(UnansweredMessages, AreFinishedBeforeRanksLeaveAWindow) {
  play([](SimRank&, Window&, Caller& caller) { caller.free(); });
}

TEST_F(UnansweredMessages, AreFinishedBeforeMpiEnds) {
  play([](SimRank& rank, Window& window, Caller&) {
    rank.engine.agent.stop();
    const Guard guard(rank.engine.lock);
    await_other_ranks(rank.engine, {&window});
    await_last_sends(rank.engine);
    EXPECT_TRUE(rank.running().drained());
  });
}

TEST(SeveralNodesTest, DescribeTheirPaths) {
  SimRanks all({0, 0, 1, 2}, 1);
  const std::vector<Window*> windows = all.make_windows();
  EXPECT_EQ(describe_paths(all[1].running(), *windows[1]),
            "ranks 0 to 1 mapped, ranks 2 to 3 over sim");
  EXPECT_EQ(describe_network(all[1].running()), "simulated");
}

// B2: a child that goes on must not answer for its parent, whatever other threads do when it is
// forked.
TEST(SeveralNodesTest, LeaveTheSocketsToTheParentOfAChild) {
  SimRanks all({0, 1}, 1);
  all.make_windows();
  const int socket = open_socket(IpAddress::v4(0));
  const auto is_open = [socket] { return ::fcntl(socket, F_GETFD) >= 0; };
  {
    const Guard guard(all[0].engine.lock);
    shm_test::Child child([&] {
      const bool before = is_open();
      all[0].engine.disown();
      return before && !is_open() ? 0 : 1;
    });
    EXPECT_EQ(child.join(), 0);
  }
  EXPECT_TRUE(is_open());
  close_socket(socket);
  EXPECT_FALSE(is_open());
}

// B2: from then on the loss of a rank is detected, whatever the ranks do.
TEST(SeveralNodesTest, AwaitTheLinksOfAWindowBeforeTheBarrier) {
  SimRanks all({0, 0, 1, 2}, 1);
  std::array<int, 4> asked{};
  for (int rank = 0; rank < all.count(); ++rank) {
    SimRank& own = all[rank];
    own.networks.links_answered = [&own, sweeps = std::uint64_t{0},
                                   &times = asked[static_cast<std::size_t>(rank)]]() mutable {
      EXPECT_EQ(own.comm.take_counts().barriers, 0);
      EXPECT_TRUE(own.engine.agent.running());
      const std::uint64_t before = std::exchange(sweeps, own.running().process.sweeps());
      EXPECT_TRUE(times == 0 || sweeps > before) << "it serves others meanwhile";
      return ++times == 3;
    };
  }
  all.make_windows();
  const Watchers watchers(std::vector<std::uint64_t>{0, 0, 1, 2});
  for (int rank = 0; rank < all.count(); ++rank) {
    EXPECT_EQ(asked[static_cast<std::size_t>(rank)], 3);
    EXPECT_EQ(all[rank].comm.take_counts().barriers, 1);
    const std::vector<int> watched = watchers.watched_by(rank);
    EXPECT_EQ(all[rank].networks.watched, std::set<int>(watched.begin(), watched.end()));
    const std::vector<int> expected = watchers.watchers_of(rank);
    EXPECT_EQ(all[rank].networks.expected, std::set<int>(expected.begin(), expected.end()));
  }
}

TEST(SeveralNodesTest, DescribeTheirProtocols) {
  for (const bool card : {false, true}) {
    SimRanks all({0, 1}, 1);
    for (int rank = 0; rank < 2; ++rank) {
      if (card) all[rank].networks.of_cards = {1};
    }
    const std::vector<Window*> windows = all.make_windows();
    const std::string expected = card ? "direct transfer" : "message to 128 KiB, direct transfer";
    EXPECT_NE(describe_protocols(all[0].running(), *windows[0])
                  .find(": put " + expected + "; get " + expected + "; accumulate message\n"),
              std::string::npos)
        << describe_protocols(all[0].running(), *windows[0]);
  }
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
