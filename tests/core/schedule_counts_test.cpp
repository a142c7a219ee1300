// SPDX-License-Identifier: BSD-3-Clause
// What the schedules of many ranks take: the formulas of docs/protocols.md, "What a collective
// takes", and the points beside them, counted on the schedules themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/collective/schedules/gathered_alltoallw.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "support/plan_cost.hpp"

namespace oriel::test {
namespace {

using Number = std::uint64_t;

/// n ranks, m to a node, N nodes, in blocks; a rank is number p of node v.
struct Job {
  Number n;
  Number m;
  Number N = n / m;
  std::vector<int> node_of;

  Job(Number ranks, Number each) : n(ranks), m(each) {
    for (Number i = 0; i < n; ++i) node_of.push_back(static_cast<int>(i / m));
  }
  /// The first and the last, a leader, and one in the middle of a node.
  std::vector<int> ranks() const {
    const Number leader = N / 2 * m;
    return {0, static_cast<int>(n - 1), static_cast<int>(leader), static_cast<int>(leader + m / 2)};
  }
};

const std::vector<Job>& jobs() {
  static const std::vector<Job> all{{448, 112}, {4096, 64}, {65536, 128}};
  return all;
}

// No schedule reads or writes the memory that it is about.
std::byte* nowhere(Number offset) {
  return reinterpret_cast<std::byte*>((Number{1} << 40) + offset);
}
Buffer bytes(Number offset, Number count) {
  static const LayoutRef byte(new Layout({{0, 1}}, 1, Basic::u8));
  return {nowhere(offset), count, byte};
}

struct Counted {
  Number sends_here = 0;
  Number sends_there = 0;
  Number receives_here = 0;
  Number receives_there = 0;
  Number copies = 0;
  Number combinations = 0;
  Number scratch = 0;

  bool operator==(const Counted&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counted& one) {
  return out << "sends " << one.sends_here << " + " << one.sends_there << ", receives "
             << one.receives_here << " + " << one.receives_there << ", copies " << one.copies
             << ", combinations " << one.combinations << ", scratch " << one.scratch;
}

Counted count(const MadeSchedule& made, const NodeMap& node_map) {
  const PlanCost cost = cost_of(made.schedule, node_map, Limits());
  return {cost.sends_here,
          cost.sends_there,
          cost.receives_here,
          cost.receives_there,
          made.schedule.copies.size(),
          made.schedule.combinations.size(),
          made.scratch_bytes};
}

/// For each job and each of its ranks: make(placement) takes what formula(job, v, p) says.
template <typename Make, typename Formula>
void compare(Make&& make, Formula&& formula) {
  for (const Job& job : jobs()) {
    for (const int rank : job.ranks()) {
      const NodeMap node_map(rank, job.node_of);
      const auto r = static_cast<Number>(rank);
      EXPECT_EQ(count(make(job, node_map), node_map), formula(job, r / job.m, r % job.m))
          << "rank " << rank << " of " << job.n;
    }
  }
}

Number over(Number a, Number b) {
  return (a + b - 1) / b;
}
Number log2_of(Number n) {
  return static_cast<Number>(std::bit_width(n - 1));
}
/// Children of a node of a binomial tree of so many.
Number binomial(Number node, Number nodes) {
  Number found = 0;
  for (Number bit = 1; bit < nodes && (node & bit) == 0; bit *= 2) found += node + bit < nodes;
  return found;
}
Number line(Number bytes_there) {
  return over(bytes_there, 64) * 64;
}

MadeSchedule make_alltoallv(const Job& job, const NodeMap& node_map, Number block) {
  std::vector<Buffer> buffers;
  for (Number i = 0; i < job.n; ++i) buffers.push_back(bytes(i * block, block));
  return alltoallw(node_map.rank(), buffers, buffers);
}

TEST(ScheduleCounts, OfAlltoallv) {
  compare([](const Job& job, const NodeMap& node_map) { return make_alltoallv(job, node_map, 8); },
          [](const Job& job, Number, Number) {
            return Counted{job.m - 1, job.n - job.m, job.m - 1, job.n - job.m, 1, 0, 0};
          });
}

TEST(ScheduleCounts, OfAlltoallvBeginWithTheRankBehind) {
  const Job& job = jobs().front();
  const NodeMap node_map(447, job.node_of);
  const Schedule schedule = make_alltoallv(job, node_map, 8).schedule;
  EXPECT_EQ(schedule.sends.front().to, 0);
  EXPECT_EQ(schedule.sends.back().to, 446);
  EXPECT_EQ(schedule.receives.front().from, 446);
}

/// What the plan of an alltoallv takes besides, with blocks of so many bytes.
TEST(ScheduleCounts, OfTheWordsOfAnAlltoallv) {
  const Limits limits;
  for (const Job& job : jobs()) {
    for (const Number block : {Number{8}, Number{1024}, Number{8192}, Number{100'000}}) {
      const NodeMap node_map(job.ranks().back(), job.node_of);
      const PlanCost cost =
          cost_of(make_alltoallv(job, node_map, block).schedule, node_map, limits);
      SCOPED_TRACE(std::to_string(job.n) + " ranks, " + std::to_string(block) + " bytes");
      const bool staged = block <= limits.staged;
      const bool eager = block <= limits.eager;
      const Number cell = line(8 + (staged ? block : 0));
      const Number here = job.m - 1;
      const Number there = job.n - job.m;
      const Number cells = staged ? 2 * cell : 0;
      EXPECT_EQ(cost.board_bytes, line(64 + 16 * here) + here * (192 + cells));
      EXPECT_EQ(cost.cell_bytes, here * cells);
      EXPECT_EQ(cost.early_bytes, eager ? there * block : 0);
      EXPECT_EQ(cost.own_bytes, here * (184 + 192) + there * (120 + 104));
      EXPECT_EQ(cost.making_messages, 3 * there);
      EXPECT_EQ(cost.messages, eager ? there : 2 * there);
      EXPECT_EQ(cost.writes, eager ? 0 : there);
      EXPECT_EQ(cost.stores, staged ? 2 * here : 0);
      EXPECT_EQ(cost.atomics, staged ? 0 : here * (2 + 2 * over(block, limits.shared_fragment)));
    }
  }
}

MadeSchedule make_gathered(const Job& job, const NodeMap& node_map, Number block) {
  std::vector<Buffer> buffers;
  for (Number i = 0; i < job.n; ++i) buffers.push_back(bytes(i * block, block));
  const auto told =
      block <= Limits().gathered ? static_cast<std::uint32_t>(block) : BlockLengths::goes_directly;
  return gathered_alltoallw(node_map, buffers, buffers, BlockLengths(told));
}

/// Nodes that a rank looks after, on either side.
Number looked_after(const Job& job, Number p) {
  return p + 1 < job.N ? over(job.N - 1 - p, job.m) : 0;
}

TEST(ScheduleCounts, OfGatheredAlltoallv) {
  compare([](const Job& job, const NodeMap& node_map) { return make_gathered(job, node_map, 8); },
          [](const Job& job, Number, Number p) {
            const Number c = looked_after(job, p);
            const Number here = job.m - 1;
            return Counted{.sends_here = here + job.N - 1 - c + here * c,
                           .sends_there = c,
                           .receives_here = here + here * c + job.N - 1 - c,
                           .receives_there = c,
                           .copies = 1 + 2 * c,
                           .scratch = 2 * c * job.m * job.m * 8};
          });
}

TEST(ScheduleCounts, OfGatheredAlltoallvOfLongBlocks) {
  compare(
      [](const Job& job, const NodeMap& node_map) { return make_gathered(job, node_map, 8192); },
      [](const Job& job, Number, Number) {
        return Counted{job.m - 1, job.n - job.m, job.m - 1, job.n - job.m, 1, 0, 0};
      });
}

TEST(ScheduleCounts, OfGatheredAlltoallvWhereEachNodeHasARank) {
  std::vector<int> node_of(100);
  std::iota(node_of.begin(), node_of.end(), 0);
  const NodeMap node_map(50, node_of);
  EXPECT_FALSE(gathers_anywhere(node_map));
  const std::vector<Buffer> buffers(100, bytes(0, 8));
  EXPECT_EQ(count(gathered_alltoallw(node_map, buffers, buffers, BlockLengths(8)), node_map),
            (Counted{0, 99, 0, 99, 1, 0, 0}));
}

/// What comes from a node is shared out without what comes from others, and short blocks wait for
/// no direct ones.
TEST(ScheduleCounts, OfGatheredAlltoallvWaitForNothingElse) {
  const Job& job = jobs().back();
  const NodeMap node_map(job.ranks().at(2), job.node_of);
  const Schedule schedule = make_gathered(job, node_map, 8).schedule;
  EXPECT_TRUE(schedule.needs_all);
  int arrivals = 0;
  Number early = 0;
  for (const Schedule::Receive& receive : schedule.receives) {
    early += receive.step == 0;
    if (node_map.node(receive.from) == node_map.node()) continue;
    EXPECT_EQ(receive.step, ++arrivals);
  }
  const Number c = looked_after(job, 0);
  EXPECT_EQ(static_cast<Number>(arrivals), c);
  // What it gathers, and nothing of what its node sends it for itself.
  EXPECT_EQ(early, c * (job.m - 1));
  std::map<int, Number> shared_out;
  for (const Schedule::Send& send : schedule.sends) ++shared_out[send.step];
  EXPECT_EQ(shared_out[1], c);
  for (int step = 2; step < 2 + arrivals; ++step) EXPECT_EQ(shared_out[step], job.m - 1);
}

/// Ranks dealt out to four nodes in turn, and one alone on a fifth.
TEST(ScheduleCounts, OfGatheredAlltoallvBetweenUnlikeNodes) {
  std::vector<int> node_of;
  for (int rank = 0; rank < 40; ++rank) node_of.push_back(rank % 4);
  node_of.push_back(4);
  const std::vector<Buffer> buffers(41, bytes(0, 8));
  const auto counted = [&](int rank) {
    const NodeMap node_map(rank, node_of);
    EXPECT_TRUE(gathers_anywhere(node_map));
    return count(gathered_alltoallw(node_map, buffers, buffers, BlockLengths(8)), node_map);
  };
  // The one alone: a message to each node and one from each.
  EXPECT_EQ(counted(40), (Counted{0, 4, 0, 4, 9, 0, 2 * 4 * 10 * 8}));
  // The first of node 0 looks after what goes to node 1 and what comes from the one alone.
  EXPECT_EQ(counted(0), (Counted{9 + 3 + 9, 1, 9 + 9 + 3, 1, 3, 0, 10 * 10 * 8 + 10 * 8}));
  // The last looks after none.
  EXPECT_EQ(counted(36), (Counted{9 + 4, 0, 9 + 4, 0, 1, 0, 0}));
}

/// How its ranks learn the lengths: as much goes as in an exchange of four bytes.
TEST(ScheduleCounts, OfLengths) {
  for (const Job& job : jobs()) {
    for (const int rank : job.ranks()) {
      const NodeMap node_map(rank, job.node_of);
      const LengthsExchange exchange(node_map, std::vector<Buffer>(job.n, bytes(0, 8)), Limits());
      const PlanCost cost = cost_of(exchange.schedule(), node_map, Limits());
      const Number c = looked_after(job, static_cast<Number>(rank) % job.m);
      EXPECT_EQ(cost.sends_there, c);
      EXPECT_EQ(cost.receives_there, c);
      EXPECT_EQ(cost.sends_here, job.N - 1 - c + (job.m - 1) * c);
    }
  }
}

/// What a plan of it takes in each use: a message to each node that it looks after, and one to say
/// that it has begun to who sends one.
TEST(ScheduleCounts, OfTheMessagesOfAGatheredAlltoallv) {
  for (const Job& job : jobs()) {
    for (const int rank : job.ranks()) {
      const NodeMap node_map(rank, job.node_of);
      const PlanCost cost = cost_of(make_gathered(job, node_map, 8).schedule, node_map, Limits());
      const Number c = looked_after(job, static_cast<Number>(rank) % job.m);
      const bool eager = job.m * job.m * 8 <= Limits().eager;
      EXPECT_EQ(cost.writes, eager ? 0 : c);
      EXPECT_EQ(cost.messages, 2 * c);
      EXPECT_EQ(cost.early_bytes, eager ? c * job.m * job.m * 8 : 0);
    }
  }
}

MadeSchedule make_allgatherv(const Job& job, const NodeMap& node_map, Number block) {
  std::vector<Buffer> blocks;
  for (Number i = 0; i < job.n; ++i) blocks.push_back(bytes(i * block, block));
  return allgatherv(node_map, bytes(Number{1} << 36, block), blocks, Limits());
}

TEST(ScheduleCounts, OfAllgathervOfShortBlocks) {
  compare([](const Job& job, const NodeMap& node_map) { return make_allgatherv(job, node_map, 8); },
          [](const Job& job, Number, Number p) {
            const Number c = looked_after(job, p);
            return Counted{(job.m - 1) * (1 + c), c, job.m - 1 + job.N - 1 - c, c, 1, 0, 0};
          });
}

TEST(ScheduleCounts, OfAllgathervOfLongBlocks) {
  compare(
      [](const Job& job, const NodeMap& node_map) { return make_allgatherv(job, node_map, 8192); },
      [](const Job& job, Number, Number) {
        return Counted{(job.m - 1) * job.N, job.N - 1, job.n - job.N, job.N - 1, 1, 0, 0};
      });
}

TEST(ScheduleCounts, OfNeighborAlltoallv) {
  // A ring of three dimensions that are one: six edges, of which two lead to ourselves.
  compare(
      [](const Job& job, const NodeMap& node_map) {
        const auto n = static_cast<int>(job.n);
        const int rank = node_map.rank();
        const int far = static_cast<int>(job.m);
        std::vector<Edge> edges;
        for (const int other : {rank, rank, (rank + n - 1) % n, (rank + 1) % n,
                                (rank + n - far) % n, (rank + far) % n}) {
          edges.push_back({other, bytes(0, 8)});
        }
        return neighbor_alltoallv(rank, edges, edges, EdgeMatching::cartesian);
      },
      [](const Job& job, Number, Number p) {
        const Number here = p == 0 || p == job.m - 1 ? 1 : 2;
        return Counted{here, 4 - here, here, 4 - here, 2, 0, 0};
      });
}

TEST(ScheduleCounts, OfBcastOfOnePiece) {
  compare([](const Job&,
             const NodeMap& node_map) { return bcast(node_map, 0, bytes(0, 1024), Limits()); },
          [](const Job& job, Number v, Number p) {
            if (p != 0) return Counted{.receives_here = 1};
            return Counted{.sends_here = job.m - 1,
                           .sends_there = binomial(v, job.N),
                           .receives_there = v == 0 ? 0U : 1U};
          });
}

TEST(ScheduleCounts, OfBcastInPieces) {
  constexpr Number pieces = 32;  // of limits.fragment, 256 KiB
  compare(
      [](const Job&, const NodeMap& node_map) {
        return bcast(node_map, 0, bytes(0, pieces << 18), Limits());
      },
      [](const Job& job, Number v, Number p) {
        const Number here = v == 0 ? 1 : pieces;
        if (p != 0) return Counted{.receives_here = here};
        // A chain of up to as many nodes as there are pieces, else a binary tree.
        Number children = v + 1 < job.N;
        if (job.N > pieces) {
          children = std::min<Number>(2, job.N > 2 * v + 1 ? job.N - (2 * v + 1) : 0);
        }
        return Counted{.sends_here = (job.m - 1) * here,
                       .sends_there = children * pieces,
                       .receives_there = v == 0 ? 0 : pieces};
      });
}

MadeSchedule make_reduce(const NodeMap& node_map, Number count, Basic basic) {
  return reduce(node_map, 0, {nowhere(0), nowhere(1 << 30), count, {Op::sum, basic, 8}}, Limits());
}

/// Whoever waits for a rank that hands on waits for those behind it (B2).
TEST(ScheduleCounts, WhoIsHandedSomethingAsksAfterAll) {
  const Job& job = jobs().front();
  for (const int rank : job.ranks()) {
    const NodeMap node_map(rank, job.node_of);
    EXPECT_FALSE(make_alltoallv(job, node_map, 8).schedule.needs_all);
    EXPECT_TRUE(make_allgatherv(job, node_map, 8).schedule.needs_all);
    EXPECT_TRUE(bcast(node_map, 0, bytes(0, 1024), Limits()).schedule.needs_all);
    EXPECT_TRUE(make_reduce(node_map, 128, Basic::i64).schedule.needs_all);
  }
}

/// In an exchange everybody waits for everybody.
TEST(ScheduleCounts, WhoOnlySendsIsThereInSome) {
  const Job& job = jobs().front();
  const NodeMap node_map(0, job.node_of);
  EXPECT_FALSE(make_alltoallv(job, node_map, 8).schedule.one_way);
  EXPECT_FALSE(make_allgatherv(job, node_map, 8).schedule.one_way);
  EXPECT_TRUE(bcast(node_map, 0, bytes(0, 1024), Limits()).schedule.one_way);
  EXPECT_TRUE(make_reduce(node_map, 128, Basic::i64).schedule.one_way);
}

TEST(ScheduleCounts, OfReduceInOneSlice) {
  compare(
      [](const Job&, const NodeMap& node_map) { return make_reduce(node_map, 128, Basic::i64); },
      [](const Job& job, Number v, Number p) {
        if (p != 0) return Counted{.sends_here = 1};
        const Number c = binomial(v, job.N);
        return Counted{.sends_there = v == 0 ? 0U : 1U,
                       .receives_here = job.m - 1,
                       .receives_there = c,
                       .copies = v == 0 ? 2U : 1U,
                       .combinations = job.m - 1 + c,
                       .scratch = (job.m + c) * 1024};
      });
}

/// Values of a node's ranks that go to other nodes where the order matters, and those that come.
struct Crossing {
  Number out = 0;
  Number in = 0;
};
Crossing crossing(const Job& job, Number v) {
  Crossing found;
  const auto is_here = [&](Number rank) { return rank / job.m == v; };
  for (Number rank = v * job.m; rank < (v + 1) * job.m; ++rank) {
    found.out += rank != 0 && !is_here(rank & (rank - 1));
    for (Number bit = 1; (rank & bit) == 0 && rank + bit < job.n; bit *= 2) {
      found.in += !is_here(rank + bit);
    }
  }
  return found;
}

TEST(ScheduleCounts, OfReduceInOneSliceWhereTheOrderMatters) {
  for (const Job& job : jobs()) {
    for (Number v = 0; v < job.N; ++v) {
      // One, where nodes have as many ranks as a power of two.
      EXPECT_LE(crossing(job, v).out, std::has_single_bit(job.m) ? 1 : log2_of(job.m));
    }
  }
  compare(
      [](const Job&, const NodeMap& node_map) { return make_reduce(node_map, 128, Basic::f64); },
      [](const Job& job, Number v, Number p) {
        if (p != 0) return Counted{.sends_here = 1};
        const auto [out, in] = crossing(job, v);
        return Counted{.sends_there = out,
                       .receives_here = job.m - 1,
                       .receives_there = in,
                       .copies = v == 0 ? 2U : 1U,
                       // Each value goes into one other, but those that leave, and the result.
                       .combinations = job.m + in - (v == 0 ? 1 : out),
                       .scratch = (job.m + in) * 1024};
      });
}

TEST(ScheduleCounts, OfReduceInSlices) {
  // As many slices as a node has ranks: each has one of them.
  constexpr Number slice = 16384;
  compare(
      [](const Job& job, const NodeMap& node_map) {
        return make_reduce(node_map, job.m * slice / 8, Basic::i64);
      },
      [](const Job& job, Number v, Number p) {
        const Number c = binomial(v, job.N);
        Counted counted{.sends_here = job.m - 1,
                        .sends_there = v == 0 ? 0U : 1U,
                        .receives_here = job.m - 1,
                        .receives_there = c,
                        .combinations = job.m - 1 + c,
                        .scratch = (job.m - 1 + c) * slice};
        // What is combined into is the leader's value, which it has to copy where that is its own.
        if (p == 0) {
          ++counted.copies;
          counted.scratch += slice;
        }
        if (v == 0 && p != 0) ++counted.sends_here;
        if (v == 0 && p == 0) {
          ++counted.copies;
          counted.receives_here += job.m - 1;
        }
        return counted;
      });
}

/// The tables of docs/protocols.md, row by row.
class Tables {
 public:
  Tables() {
    std::ifstream file(ORIEL_DOCS "/protocols.md");
    for (std::string row; std::getline(file, row);) rows_.insert(row);
  }
  bool found() const { return !rows_.empty(); }
  bool have(const std::string& row) const { return rows_.contains(row); }

 private:
  std::set<std::string> rows_;
};

template <typename Make>
std::string row(const std::string& name, Make&& make) {
  std::string rows;
  for (const auto& [which, number] : {std::pair("leader", 2), std::pair("middle", 3)}) {
    rows += "| " + name + " | " + which + " |";
    for (const Job& job : jobs()) {
      const NodeMap node_map(job.ranks().at(static_cast<std::size_t>(number)), job.node_of);
      const Counted one = count(make(job, node_map), node_map);
      const auto text = [](Number here, Number there) {
        return std::to_string(here) + " + " + std::to_string(there);
      };
      rows += " " + text(one.sends_here, one.sends_there) + "; " +
              text(one.receives_here, one.receives_there) + "; " + std::to_string(one.scratch) +
              " |";
    }
    rows += "\n";
  }
  return rows;
}

std::string plan_row(const Job& job, Number block) {
  const NodeMap node_map(job.ranks().back(), job.node_of);
  const PlanCost cost = cost_of(make_alltoallv(job, node_map, block).schedule, node_map, Limits());
  std::string text = "| " + std::to_string(job.n) + " | " + std::to_string(block) + " |";
  for (const Number one : {cost.board_bytes, cost.own_bytes, cost.early_bytes, cost.making_messages,
                           cost.messages, cost.writes, cost.stores, cost.atomics}) {
    text += " " + std::to_string(one) + " |";
  }
  return text + "\n";
}

TEST(ScheduleCounts, AreThoseOfTheTables) {
  const Tables tables;
  ASSERT_TRUE(tables.found()) << ORIEL_DOCS "/protocols.md is not there";
  std::string rows;
  rows += row("alltoallv, 8 bytes", [](const Job& job, const NodeMap& node_map) {
    return make_alltoallv(job, node_map, 8);
  });
  rows += row("gathered alltoallv, 8 bytes", [](const Job& job, const NodeMap& node_map) {
    return make_gathered(job, node_map, 8);
  });
  rows += row("allgatherv, 8 bytes", [](const Job& job, const NodeMap& node_map) {
    return make_allgatherv(job, node_map, 8);
  });
  rows += row("allgatherv, 8 KiB", [](const Job& job, const NodeMap& node_map) {
    return make_allgatherv(job, node_map, 8192);
  });
  rows += row("bcast, 1 KiB", [](const Job&, const NodeMap& node_map) {
    return bcast(node_map, 0, bytes(0, 1024), Limits());
  });
  rows += row("bcast, 8 MiB", [](const Job&, const NodeMap& node_map) {
    return bcast(node_map, 0, bytes(0, Number{32} << 18), Limits());
  });
  rows += row("reduce, 1 KiB, i64", [](const Job&, const NodeMap& node_map) {
    return make_reduce(node_map, 128, Basic::i64);
  });
  rows += row("reduce, 1 KiB, f64", [](const Job&, const NodeMap& node_map) {
    return make_reduce(node_map, 128, Basic::f64);
  });
  rows += row("reduce, m * 16 KiB, i64", [](const Job& job, const NodeMap& node_map) {
    return make_reduce(node_map, job.m * 2048, Basic::i64);
  });
  rows += row("reduce, m * 16 KiB, f64", [](const Job& job, const NodeMap& node_map) {
    return make_reduce(node_map, job.m * 2048, Basic::f64);
  });
  for (const Job& job : jobs()) {
    for (const Number block : {Number{8}, Number{8192}, Number{100'000}}) {
      rows += plan_row(job, block);
    }
  }
  std::istringstream lines(rows);
  for (std::string one; std::getline(lines, one);) EXPECT_TRUE(tables.have(one)) << one;
}

}  // namespace
}  // namespace oriel::test
