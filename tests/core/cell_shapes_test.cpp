// SPDX-License-Identifier: BSD-3-Clause
// How many cells a transfer on a node has, and of which size (C4): with pipelines a few, through
// which a message of any length goes; without them all that the message needs, or none.
#include <gtest/gtest.h>

#include "core/collective/board.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t kb = 1024;
constexpr std::uint64_t mb = 1024 * kb;
constexpr std::size_t many = 112;  // ranks of a node

Limits limits(bool pipelines) {
  Limits limits;
  limits.staged = 16 * mb;
  limits.staged_pipelines = pipelines;
  return limits;
}

std::uint64_t bytes_of(const CellShape& shape) {
  return std::uint64_t{shape.space} * shape.count;
}

/// Of one of so many transfers that are alike.
CellShape shape(const Limits& limits, std::uint64_t bytes, std::uint64_t transfers = 1,
                CellShapes::Number number = CellShapes::Number::usual) {
  CellDemand demand(limits, many);
  for (std::uint64_t i = 0; i < transfers; ++i) demand.add(bytes, false);
  return CellShapes(demand, number).of(bytes, true, false);
}

TEST(CellShapes, OfAPipelineAreAsManyForEachLength) {
  const Limits with = limits(true);
  for (const std::uint64_t bytes : {256 * kb, 257 * kb, 2 * mb, 16 * mb}) {
    const CellShape cells = shape(with, bytes);
    EXPECT_TRUE(cells.wanted);
    EXPECT_EQ(cells.count, with.staged_cells) << bytes;
    EXPECT_EQ(cells.space, with.staged_fragment) << bytes;
  }
}

TEST(CellShapes, HaveRoomForAWholeMessageWithoutPipelines) {
  const Limits without = limits(false);
  const std::uint64_t most = without.staged_whole * without.staged_fragment;
  for (const std::uint64_t size : {256 * kb, 257 * kb, 2 * mb, most}) {
    const CellShape cells = shape(without, size);
    EXPECT_TRUE(cells.wanted);
    EXPECT_GE(bytes_of(cells), size);
    EXPECT_LT(bytes_of(cells), size + without.staged_fragment) << "no more than it needs";
  }
  EXPECT_EQ(shape(without, most + 8).count, 0u);
  CellDemand demand(without, many);
  demand.add(most + 8, false);
  EXPECT_EQ(demand.long_transfers(), 0u) << "it takes no cells from others";
}

TEST(CellShapes, OfAPlanTakeWhatItCanAfford) {
  for (const bool pipelines : {false, true}) {
    const Limits of = limits(pipelines);
    for (const std::uint64_t transfers : {1, 3, 7, 15, 63}) {
      for (const std::uint64_t size : {64 * kb, 512 * kb, 4 * mb}) {
        EXPECT_LE(bytes_of(shape(of, size, transfers)) * transfers, of.staged_bytes)
            << transfers << " of " << size;
      }
    }
  }
  // Eight messages of 512 KB fit into it, and one more does not.
  EXPECT_TRUE(shape(limits(false), 512 * kb, 8).wanted);
  EXPECT_EQ(shape(limits(false), 512 * kb, 9).count, 0u);
}

TEST(CellShapes, OfFewRanksTakeMore) {
  const Limits of = limits(false);
  for (const std::size_t ranks : {2, 4, 8, 16, 32}) {
    CellDemand demand(of, ranks);
    for (std::size_t other = 1; other < ranks; ++other) demand.add(1 * mb, false);
    const CellShape cells = CellShapes(demand, CellShapes::Number::usual).of(1 * mb, true, false);
    const std::uint64_t all = bytes_of(cells) * (ranks - 1);
    EXPECT_LE(all * ranks, std::max(of.staged_node_bytes, ranks * of.staged_bytes)) << ranks;
    EXPECT_EQ(cells.wanted, ranks <= 8) << ranks;
  }
}

TEST(CellShapes, OfShortMessagesAreAtLeastTwo) {
  for (const bool pipelines : {false, true}) {
    const CellShape cells = shape(limits(pipelines), 8);
    EXPECT_EQ(cells.count, 2u);
    EXPECT_EQ(cells.space, 8u);
  }
}

TEST(CellShapes, LetSendersBeAheadWhereNothingComesBack) {
  const Limits of = limits(true);
  constexpr auto ahead = CellShapes::Number::one_way;
  EXPECT_EQ(shape(of, 8, 3, ahead).count, of.ahead_uses);
  EXPECT_EQ(shape(of, 8, 3).count, 2u);
  EXPECT_EQ(shape(of, of.staged_surely + 8, 1, ahead).count, 2u);
  for (const std::uint64_t transfers : {1, 3, 31, 447}) {
    for (const std::uint64_t size : {std::uint64_t{8}, 1 * kb, 4 * kb}) {
      const CellShape cells = shape(of, size, transfers, ahead);
      const std::uint64_t all = transfers * cells.count * Cell::stride(size);
      EXPECT_TRUE(all <= of.ahead_bytes || cells.count == 2) << transfers << " of " << size;
    }
  }
  EXPECT_GT(shape(of, 8, 111, ahead).count, 2u);
}

TEST(CellShapes, AreFewWhereThereIsNoMemoryForMore) {
  for (const bool pipelines : {false, true}) {
    const Limits of = limits(pipelines);
    constexpr auto few = CellShapes::Number::fewest;
    EXPECT_EQ(shape(of, 8, 1, few).count, 2u);
    EXPECT_LE(bytes_of(shape(of, 2 * mb, 1, few)), 2 * of.staged_fragment);
    EXPECT_EQ(shape(of, 2 * mb, 1, few).wanted, pipelines) << "else by one copy";
  }
}

TEST(CellShapes, AreThereForWhatHasGapsWhateverItsLength) {
  const Limits without = limits(false);
  const CellShape cells =
      CellShapes(CellDemand(without, many), CellShapes::Number::usual).of(64 * mb, false, false);
  EXPECT_FALSE(cells.wanted);
  EXPECT_EQ(cells.count, 2u);
}

}  // namespace
}  // namespace oriel::test
