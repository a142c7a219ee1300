// SPDX-License-Identifier: BSD-3-Clause
// G4: how flattened datatypes are merged, measured and walked, against lists of single bytes.
#include "core/operation/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace oriel {
namespace {

using Offsets = std::vector<std::int64_t>;

/// The offsets of all bytes of `count` elements, in typemap order.
Offsets bytes_of(const std::vector<Block>& blocks, std::int64_t extent, std::uint64_t count) {
  Offsets bytes;
  for (std::uint64_t element = 0; element < count; ++element) {
    for (const Block& block : blocks) {
      for (std::uint64_t i = 0; i < block.length; ++i) {
        bytes.push_back(static_cast<std::int64_t>(element) * extent + block.offset +
                        static_cast<std::int64_t>(i));
      }
    }
  }
  return bytes;
}

/// The same by a cursor that moves on by at most `step` bytes.
Offsets walk(const Layout& layout, std::uint64_t count, std::uint64_t step) {
  Offsets bytes;
  BlockCursor cursor(layout, count);
  EXPECT_EQ(cursor.remaining(), count * layout.size());
  while (!cursor.finished()) {
    const std::uint64_t length = std::min(cursor.run(), step);
    EXPECT_GT(length, 0u);
    EXPECT_LE(cursor.run(), cursor.remaining());
    for (std::uint64_t i = 0; i < length; ++i) {
      bytes.push_back(cursor.offset() + static_cast<std::int64_t>(i));
    }
    cursor.advance(length);
  }
  EXPECT_EQ(cursor.remaining(), 0u);
  return bytes;
}

std::pair<std::int64_t, std::int64_t> extremes(const Offsets& bytes) {
  if (bytes.empty()) return {0, 0};
  const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
  return {*low, *high + 1};
}

constexpr auto whole = std::numeric_limits<std::uint64_t>::max();

TEST(Layout, OneBlockFromZeroThatFillsTheExtentIsContiguous) {
  const Layout layout({{0, 8}}, 8, Basic::f64);
  EXPECT_TRUE(layout.contiguous());
  EXPECT_EQ(layout.size(), 8u);
  EXPECT_EQ(layout.basic(), Basic::f64);
  const BlockCursor cursor(layout, 1000);
  EXPECT_EQ(cursor.run(), 8000u);
}

TEST(Layout, AdjacentBlocksAreMerged) {
  const Layout layout({{0, 4}, {4, 4}, {8, 8}, {24, 4}, {28, 4}}, 32, Basic::none);
  ASSERT_EQ(layout.blocks().size(), 2u);
  EXPECT_EQ(layout.blocks()[0].length, 16u);
  EXPECT_EQ(layout.blocks()[1].offset, 24);
  EXPECT_EQ(layout.blocks()[1].length, 8u);
  EXPECT_EQ(layout.size(), 24u);
  EXPECT_FALSE(layout.contiguous());
}

TEST(Layout, BlocksInDescendingOrderStayInTypemapOrder) {
  const std::vector<Block> blocks{{8, 4}, {4, 4}, {0, 4}};
  const Layout layout(blocks, 12, Basic::i32);
  EXPECT_FALSE(layout.contiguous());
  EXPECT_EQ(walk(layout, 2, whole), bytes_of(blocks, 12, 2));
}

TEST(Layout, EmptyBlocksVanish) {
  const Layout layout({{100, 0}, {0, 4}, {50, 0}, {4, 4}}, 8, Basic::i32);
  EXPECT_TRUE(layout.contiguous());
  EXPECT_EQ(layout.bounds(1), std::make_pair(std::int64_t{0}, std::int64_t{8}));
}

TEST(Layout, WithoutDataNothingIsTouched) {
  const Layout layout({{16, 0}}, 32, Basic::i32);
  EXPECT_EQ(layout.size(), 0u);
  EXPECT_EQ(layout.bounds(7), std::make_pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_TRUE(BlockCursor(layout, 7).finished());
}

TEST(Layout, ZeroElementsTouchNothing) {
  const Layout layout({{16, 4}}, 32, Basic::i32);
  EXPECT_EQ(layout.bounds(0), std::make_pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_TRUE(BlockCursor(layout, 0).finished());
}

TEST(Layout, GapAtTheEndIsNotContiguous) {
  EXPECT_FALSE(Layout({{0, 12}}, 16, Basic::other).contiguous());
}

TEST(Layout, BoundsOfANegativeExtentReachDown) {
  const Layout layout({{0, 4}}, -16, Basic::i32);
  EXPECT_EQ(layout.bounds(3), std::make_pair(std::int64_t{-32}, std::int64_t{4}));
  EXPECT_EQ(walk(layout, 3, 3), bytes_of({{0, 4}}, -16, 3));
}

TEST(Layout, AnExtentOfZeroRepeatsTheSameBytes) {
  const Layout layout({{0, 4}}, 0, Basic::i32);
  EXPECT_EQ(layout.bounds(3), std::make_pair(std::int64_t{0}, std::int64_t{4}));
  EXPECT_EQ(walk(layout, 3, whole), bytes_of({{0, 4}}, 0, 3));
}

TEST(Layout, MayReachBackFromBehindTheEnd) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Layout back({{-32, 8}}, 8, Basic::u64);
  EXPECT_TRUE(back.within(1, 32, 64));
  EXPECT_TRUE(back.within(1, 88, 64));
  EXPECT_FALSE(back.within(1, 24, 64));
  EXPECT_FALSE(back.within(1, 96, 64));
  EXPECT_TRUE(back.within(2, 80, 64));
  EXPECT_FALSE(back.within(2, 88, 64));
  EXPECT_FALSE(back.within(1, Limits::min(), 64));
  EXPECT_FALSE(back.within(1, Limits::max(), 64));
  EXPECT_FALSE(Layout({{Limits::max() - 8, 8}}, 8, Basic::u64).within(1, 16, 64));
  EXPECT_FALSE(Layout({{0, 16}}, -16, Basic::other).within(std::uint64_t{1} << 63, 0, 64));
}

// G7: a count whose bytes do not fit into 64 bits must not wrap into the window.
TEST(Layout, BoundsBeyondSixtyFourBitsSaturate) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (int bit = 60; bit < 64; ++bit) {
    const std::uint64_t count = std::uint64_t{1} << bit;
    EXPECT_EQ(Layout({{0, 16}}, 16, Basic::other).bounds(count).second, Limits::max()) << bit;
    EXPECT_EQ(Layout({{0, 16}}, -16, Basic::other).bounds(count).first, Limits::min()) << bit;
  }
  EXPECT_EQ(Layout({{100, 1}}, 1, Basic::u8).bounds(std::uint64_t{Limits::max()}).second,
            Limits::max());
}

TEST(Layout, RandomOnesAgreeWithListsOfBytes) {
  std::mt19937 random(20);
  const auto below = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Block> blocks(static_cast<std::size_t>(below(6)));
    for (Block& block : blocks) {
      // A coarse grid, so that neighbours are frequent.
      block = {(below(12) - 4) * 4, static_cast<std::uint64_t>(below(4)) * 4};
    }
    const std::int64_t extent = below(80) - 20;
    const auto count = static_cast<std::uint64_t>(below(5));
    const Layout layout(blocks, extent, Basic::none);
    const Offsets expected = bytes_of(blocks, extent, count);
    EXPECT_EQ(layout.bounds(count), extremes(expected));
    EXPECT_EQ(walk(layout, count, whole), expected);
    EXPECT_EQ(walk(layout, count, static_cast<std::uint64_t>(1 + below(7))), expected);
  }
}

TEST(Layout, RunsOfTwoLayoutsPairTheirBytesInOrder) {
  std::mt19937 random(21);
  const auto below = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
  for (int round = 0; round < 500; ++round) {
    // The same number of bytes, cut differently on the two sides.
    const std::vector<Block> blocks{{below(5), 6}, {20, 10}, {40 + below(5), 8}};
    const Layout a(blocks, 64, Basic::none);
    const Layout b({{below(2), 12}}, below(20), Basic::none);
    const Offsets from = bytes_of(a.blocks(), a.extent(), 3);
    const Offsets to = bytes_of(b.blocks(), b.extent(), 6);
    std::size_t at = 0;
    for_each_run(BlockCursor(a, 3), BlockCursor(b, 6),
                 [&](std::int64_t a_offset, std::int64_t b_offset, std::uint64_t length) {
                   for (std::uint64_t i = 0; i < length; ++i, ++at) {
                     ASSERT_EQ(a_offset + static_cast<std::int64_t>(i), from.at(at));
                     ASSERT_EQ(b_offset + static_cast<std::int64_t>(i), to.at(at));
                   }
                 });
    EXPECT_EQ(at, from.size());
  }
}

TEST(Layout, RunsEndWithTheShorterSide) {
  const Layout ints({{0, 4}}, 4, Basic::i32);
  std::uint64_t bytes = 0;
  for_each_run(BlockCursor(ints, 3), BlockCursor(ints, 5),
               [&](std::int64_t, std::int64_t, std::uint64_t length) { bytes += length; });
  EXPECT_EQ(bytes, 12u);
}

// A skip of any length arrives where so many steps of one byte do, again and again.
TEST(Layout, SkipsToAnyByte) {
  const std::vector<std::pair<std::vector<Block>, std::int64_t>> layouts = {
      {{{0, 8}}, 8}, {{{4, 3}, {20, 1}, {9, 5}}, 40}, {{{-8, 2}, {0, 2}}, -16}};
  for (const auto& [blocks, extent] : layouts) {
    constexpr std::uint64_t count = 7;
    const Layout layout(blocks, extent, Basic::none);
    const Offsets all = bytes_of(blocks, extent, count);
    for (std::uint64_t step = 1; step <= all.size(); ++step) {
      BlockCursor cursor(layout, count);
      for (std::uint64_t at = 0; at < all.size(); at += step) {
        ASSERT_EQ(cursor.offset(), all[at]);
        ASSERT_EQ(cursor.remaining(), all.size() - at);
        cursor.skip(std::min<std::uint64_t>(step, cursor.remaining()));
      }
      EXPECT_TRUE(cursor.finished());
    }
  }
}

// A datatype may be freed while an operation with it is pending (G4).
TEST(LayoutRef, KeepsTheLayoutUntilTheLastOwnerIsGone) {
  LayoutRef first(new Layout({{0, 4}}, 4, Basic::i32));
  LayoutRef second = first;
  first = LayoutRef();
  EXPECT_FALSE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->size(), 4u);
  const LayoutRef third = std::move(second);
  EXPECT_FALSE(second);
  EXPECT_EQ((*third).extent(), 4);
}

// Predefined datatypes are looked up again by each session.
TEST(LayoutRef, ALastingLayoutIsTheSameForEqualCalls) {
  const LayoutRef first = Layout::lasting({{0, 4}, {4, 4}}, 16, Basic::i32);
  const std::uint64_t id = first->id();
  EXPECT_EQ(Layout::lasting({{0, 8}}, 16, Basic::i32).get(), first.get());
  EXPECT_EQ(Layout::lasting({{0, 8}}, 16, Basic::i32)->id(), id);
  EXPECT_NE(Layout::lasting({{0, 8}}, 8, Basic::i32).get(), first.get());
  EXPECT_NE(Layout::lasting({{8, 8}}, 16, Basic::i32).get(), first.get());
  EXPECT_NE(Layout::lasting({{0, 4}}, 16, Basic::i32).get(), first.get());
  EXPECT_NE(Layout::lasting({{0, 8}}, 16, Basic::u32).get(), first.get());
}

}  // namespace
}  // namespace oriel
