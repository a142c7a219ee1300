// SPDX-License-Identifier: BSD-3-Clause
// Buffers that have a byte in common are found, whatever their datatypes, and no others; and it
// takes no more steps for blocks that interleave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/operation/overlap.hpp"
#include "support/random.hpp"

namespace oriel::test {
namespace {

/// Nobody looks at what is there.
void* address(std::int64_t offset) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>((std::int64_t{1} << 40) + offset));
}

LayoutRef layout(const std::vector<Block>& blocks, std::int64_t extent) {
  return LayoutRef(new Layout(blocks, extent, Basic::none));
}

/// All pairs that have a byte in common, byte by byte.
std::set<BufferPair> all_pairs(const std::vector<Buffer>& buffers) {
  std::map<std::int64_t, std::vector<std::size_t>> by_byte;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto start =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffers[i].address));
    for (std::uint64_t element = 0; element < buffers[i].count; ++element) {
      for (const Block& block : buffers[i].layout->blocks()) {
        for (std::uint64_t byte = 0; byte < block.length; ++byte) {
          by_byte[start + static_cast<std::int64_t>(element) * buffers[i].layout->extent() +
                  block.offset + static_cast<std::int64_t>(byte)]
              .push_back(i);
        }
      }
    }
  }
  std::set<BufferPair> pairs;
  for (const auto& [byte, owners] : by_byte) {
    for (std::size_t one = 0; one < owners.size(); ++one) {
      for (std::size_t other = one + 1; other < owners.size(); ++other) {
        pairs.insert(std::minmax(owners[one], owners[other]));
      }
    }
  }
  return pairs;
}

/// Blocks in units of `unit` bytes, none of which shares a byte with another of its element.
LayoutRef random_layout(Random& random, std::int64_t unit) {
  std::vector<Block> blocks;
  std::int64_t next = unit * (random.below(9) - 4);
  for (int count = random.below(4); count >= 0; --count) {
    const std::int64_t length = unit * (1 + random.below(3));
    blocks.push_back({next, static_cast<std::uint64_t>(length)});
    next += length + unit * random.below(12);
  }
  const std::int64_t reach = next - blocks.front().offset;
  if (random.chance(30)) std::ranges::reverse(blocks);
  return layout(blocks, random.chance(20) ? -reach : reach + unit * random.below(3));
}

TEST(Overlap, IsFoundWhereThereIsOneAndNowhereElse) {
  int apart = 0;
  int common = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    const std::int64_t unit = std::vector<std::int64_t>{1, 3, 4, 8}[seed % 4];
    // Close together, so that they interleave, or far apart, where few of them meet.
    const int space = seed % 3 == 0 ? 3000 : 60;
    std::vector<Buffer> buffers;
    for (int count = 1 + random.below(4); count >= 0; --count) {
      buffers.push_back({address(unit * random.below(space)),
                         static_cast<std::uint64_t>(random.below(4)), random_layout(random, unit)});
    }
    const auto pairs = all_pairs(buffers);
    const auto found = find_overlap(buffers);
    // One that has a byte twice is the host's to find, where nothing else lies there.
    const bool expected = std::ranges::any_of(
        pairs, [](const BufferPair& pair) { return pair.first != pair.second; });
    ASSERT_TRUE(found || !expected) << "seed " << seed;
    ASSERT_TRUE(!found || pairs.contains(*found)) << "seed " << seed;
    ++(found ? common : apart);
  }
  EXPECT_GT(apart, 2000);
  EXPECT_GT(common, 2000);
}

/// Columns of a square of words.
std::vector<Buffer> columns(std::size_t side) {
  std::vector<Block> blocks;
  for (std::size_t row = 0; row < side; ++row) {
    blocks.push_back({static_cast<std::int64_t>(8 * side * row), 8});
  }
  const LayoutRef column = layout(blocks, static_cast<std::int64_t>(8 * side * side));
  std::vector<Buffer> made;
  for (std::size_t i = 0; i < side; ++i) {
    made.push_back({address(static_cast<std::int64_t>(8 * i)), 1, column});
  }
  return made;
}

TEST(Overlap, OfColumnsTakesOneStepForEachWord) {
  for (const std::size_t side : {2u, 64u, 1024u}) {
    std::vector<Buffer> all = columns(side);
    std::uint64_t steps = 0;
    EXPECT_FALSE(find_overlap(all, &steps));
    EXPECT_EQ(steps, side * side);
    all.back() = all.front();
    EXPECT_EQ(find_overlap(all), BufferPair(0, side - 1));
  }
}

// A map of all that lies between them would be larger than any memory.
TEST(Overlap, OfFewBytesFarApartTakesNoMap) {
  const LayoutRef ends = layout({{0, 8}, {std::int64_t{1} << 50, 8}}, 8);
  const LayoutRef word = layout({{0, 8}}, 8);
  std::vector<Buffer> buffers{{address(0), 1, ends}, {address(std::int64_t{1} << 49), 1, word}};
  std::uint64_t steps = 0;
  EXPECT_FALSE(find_overlap(buffers, &steps));
  EXPECT_LT(steps, 10u);
  buffers.push_back({address((std::int64_t{1} << 50) + 7), 1, word});
  EXPECT_EQ(find_overlap(buffers), BufferPair(0, 2));
}

// As displacements that nobody means.
TEST(Overlap, BeyondTheLastAddressIsLookedForAsWell) {
  const LayoutRef two = layout({{0, 8}, {16, 8}}, 24);
  auto* const last = reinterpret_cast<void*>(~std::uintptr_t{0} - 15);
  const std::vector<Buffer> buffers{{last, 1, two}, {address(0), 1, two}, {address(0), 2, two}};
  EXPECT_EQ(find_overlap(buffers), BufferPair(1, 2));
}

}  // namespace
}  // namespace oriel::test
