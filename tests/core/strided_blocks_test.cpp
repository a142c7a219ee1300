// SPDX-License-Identifier: BSD-3-Clause
// G4: a put or get moves the bytes that the walks of both layouts pair, however many it takes at a
// time.
#include "core/operation/strided_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace oriel {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Pairs by_runs(const Elements& theirs, const Elements& ours) {
  Pairs pairs;
  for_each_run(BlockCursor(theirs), BlockCursor(ours),
               [&](std::int64_t there, std::int64_t here, std::uint64_t bytes) {
                 for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes); ++i) {
                   pairs.emplace_back(there + i, here + i);
                 }
               });
  return pairs;
}

Pairs by_parts(const Elements& theirs, const Elements& ours, std::uint64_t& longest) {
  Pairs pairs;
  for_each_strided(theirs, ours, [&](const StridedBlocks& strided) {
    longest = std::max(longest, strided.blocks);
    for (std::int64_t block = 0; block < static_cast<std::int64_t>(strided.blocks); ++block) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(strided.bytes); ++i) {
        pairs.emplace_back(strided.theirs + block * strided.their_stride + i,
                           strided.ours + block * strided.our_stride + i);
      }
    }
  });
  return pairs;
}

/// Each of the two against the other, both ways; the most blocks of a part.
std::uint64_t compare(const Elements& one, const Elements& other) {
  std::uint64_t longest = 0;
  EXPECT_EQ(by_parts(one, other, longest), by_runs(one, other));
  EXPECT_EQ(by_parts(other, one, longest), by_runs(other, one));
  return longest;
}

Layout vector(std::int64_t first, std::uint64_t length, std::int64_t stride, int blocks,
              std::int64_t extent) {
  std::vector<Block> made;
  for (int block = 0; block < blocks; ++block) made.push_back({first + block * stride, length});
  return {made, extent, Basic::none};
}

const Layout bytes({{0, 1}}, 1, Basic::none);
const Layout words({{0, 8}}, 8, Basic::none);

TEST(StridedBlocks, AVectorIsOne) {
  const Layout type = vector(0, 8, 16, 100, 99 * 16 + 8);
  EXPECT_EQ(compare({type, 1}, {words, 100}), 100u);
  EXPECT_EQ(compare({type, 1}, {bytes, 800}), 100u);
}

TEST(StridedBlocks, ElementsThatGoOnEvenlyAreOneTogether) {
  const Layout type = vector(3, 4, 12, 5, 60);
  EXPECT_EQ(compare({type, 7}, {bytes, 140}), 35u);
  const Layout single = vector(8, 2, 0, 1, 24);
  EXPECT_EQ(compare({single, 50}, {bytes, 100}), 50u);
}

TEST(StridedBlocks, ElementsThatDoNotAreOneEach) {
  const Layout type = vector(0, 8, 16, 10, 9 * 16 + 8);
  EXPECT_EQ(compare({type, 3}, {words, 30}), 10u);
}

TEST(StridedBlocks, DataMayEndWithinABlockOrAnElement) {
  const Layout type = vector(0, 8, 16, 10, 160);
  for (std::uint64_t count = 0; count <= 170; ++count) compare({type, 2}, {bytes, count});
  const Layout uneven_end = vector(0, 8, 16, 10, 152);
  for (std::uint64_t count = 0; count <= 170; ++count) compare({uneven_end, 2}, {bytes, count});
}

TEST(StridedBlocks, NegativeStridesAndNone) {
  EXPECT_EQ(compare({vector(900, 8, -16, 20, 1000), 2}, {words, 40}), 20u);
  EXPECT_EQ(compare({vector(0, 8, 0, 1, 0), 5}, {words, 5}), 5u);
}

TEST(StridedBlocks, ContiguousOnBothSidesIsOneRun) {
  int parts = 0;
  for_each_strided({words, 100}, {bytes, 800}, [&](const StridedBlocks& strided) {
    ++parts;
    EXPECT_EQ(strided.bytes, 800u);
  });
  EXPECT_EQ(parts, 1);
}

TEST(StridedBlocks, AreTheRunsOfAnyLayouts) {
  std::mt19937 random(1);
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  const auto draw = [&]() -> Layout {
    switch (below(4)) {
      case 0:
        return vector(0, std::uint64_t(1 + below(9)), 0, 1, 1 + below(9));
      case 1:
        return vector(below(20), std::uint64_t(1 + below(9)), below(40) - 20, 1 + below(9),
                      200 + below(3));
      case 2: {
        std::vector<Block> blocks;
        for (int i = 0; i < 1 + below(4); ++i) blocks.push_back({i * 20, 1u + unsigned(below(9))});
        return {blocks, 80, Basic::none};
      }
      default:
        return {{{0, 1}}, 1, Basic::none};
    }
  };
  for (int round = 0; round < 2000; ++round) {
    const Layout one = draw();
    const Layout other = draw();
    compare({one, std::uint64_t(below(6))}, {other, std::uint64_t(below(40))});
  }
}

TEST(StridedBlocks, TheOnlyOneIsFound) {
  const auto only = [](const Layout& one, std::uint64_t count) {
    const auto strided = only_strided({one, count}, {bytes, count * one.size()});
    return strided ? strided->blocks : 0;
  };
  EXPECT_EQ(only(vector(8, 8, 16, 10, 160), 3), 30u);
  EXPECT_EQ(only(vector(8, 8, 16, 10, 150), 1), 10u);
  EXPECT_EQ(only(vector(8, 8, 16, 10, 150), 2), 0u);
  EXPECT_EQ(only(vector(8, 8, 0, 1, 30), 1), 1u);
  EXPECT_EQ(only(words, 100), 1u);
  EXPECT_EQ(only({{{0, 4}, {8, 8}}, 16, Basic::none}, 1), 0u);
  EXPECT_FALSE(only_strided({words, 0}, {words, 4}));
  const Layout type = vector(0, 8, 16, 10, 160);
  EXPECT_FALSE(only_strided({type, 1}, {type, 1}));
}

// Also of several batches, and of blocks that are longer than one.
TEST(StridedBlocks, BlocksAreCombinedWithOperandsInOneRun) {
  for (const std::uint64_t words_each : {1u, 3u, 100u, 511u, 512u, 700u}) {
    constexpr std::uint64_t blocks = 41;
    const std::uint64_t stride = words_each + 2;
    std::vector<std::uint64_t> memory(blocks * stride, 1000);
    std::vector<std::uint64_t> operands(blocks * words_each);
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = i;
    reduce_blocks({Op::sum, Basic::u64, 8}, reinterpret_cast<std::byte*>(memory.data()),
                  static_cast<std::int64_t>(stride * 8),
                  reinterpret_cast<const std::byte*>(operands.data()), words_each * 8, blocks);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::uint64_t within = i % stride;
      const std::uint64_t operand = i / stride * words_each + within;
      ASSERT_EQ(memory[i], within < words_each ? 1000 + operand : 1000) << words_each;
    }
  }
}

TEST(StridedBlocks, BlocksOfAllSizesAreCopied) {
  for (std::uint64_t size = 1; size <= 70; ++size) {
    constexpr std::uint64_t blocks = 9;
    const auto stride = static_cast<std::int64_t>(size) + 5;
    std::vector<std::byte> spread(blocks * static_cast<std::uint64_t>(stride));
    for (std::size_t i = 0; i < spread.size(); ++i) spread[i] = std::byte(i * 7 + size);
    std::vector<std::byte> packed(blocks * size);
    copy_blocks(packed.data(), static_cast<std::int64_t>(size), spread.data(), stride, size,
                blocks);
    std::vector<std::byte> back(spread.size());
    copy_blocks(back.data(), stride, packed.data(), static_cast<std::int64_t>(size), size, blocks);
    for (std::size_t i = 0; i < spread.size(); ++i) {
      const bool inside = i % static_cast<std::size_t>(stride) < size;
      ASSERT_EQ(back[i], inside ? spread[i] : std::byte{0}) << size << " bytes, " << i;
    }
  }
}

}  // namespace
}  // namespace oriel
