// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/alloc.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>

namespace oriel {
namespace {

class ShmAlloc : public ::testing::Test {
 protected:
  SegmentAllocator allocator_;
  std::string error_;
};

bool aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

// G2: memory of every size can be found by peers, at the place where it really is.
TEST_F(ShmAlloc, IsFoundWhereItLies) {
  for (const std::size_t bytes : {0ul, 1ul, 64ul, 65ul, 65536ul, 65537ul, 5000000ul}) {
    auto* pointer = static_cast<char*>(allocator_.allocate(bytes, 64, error_));
    ASSERT_NE(pointer, nullptr) << error_;
    std::memset(pointer, 0x5a, bytes);
    const auto place = allocator_.find(pointer, bytes);
    ASSERT_TRUE(place) << bytes;
    const Segment seen = Segment::open(place->segment, error_);
    ASSERT_TRUE(seen) << error_;
    ASSERT_LE(place->offset + bytes, seen.bytes());
    EXPECT_EQ(std::memcmp(seen.data() + place->offset, pointer, bytes), 0);
    EXPECT_TRUE(allocator_.free(pointer));
  }
}

// mpi_minimum_memory_alignment may ask for more than a page.
TEST_F(ShmAlloc, HonoursAlignment) {
  for (std::size_t alignment = 1; alignment <= 2 * 1024 * 1024; alignment *= 2) {
    void* small = allocator_.allocate(8, alignment, error_);
    void* large = allocator_.allocate(100000, alignment, error_);
    EXPECT_TRUE(aligned(small, alignment)) << alignment;
    EXPECT_TRUE(aligned(large, alignment)) << alignment;
    EXPECT_TRUE(allocator_.find(large, 100000));
    EXPECT_TRUE(allocator_.free(small));
    EXPECT_TRUE(allocator_.free(large));
  }
}

// A range that begins or ends outside our segments is private memory.
TEST_F(ShmAlloc, DoesNotFindWhatIsNotItsOwn) {
  int on_the_stack = 0;
  EXPECT_FALSE(allocator_.find(&on_the_stack, 4));
  EXPECT_FALSE(allocator_.find(nullptr, 0));
  auto* pointer = static_cast<char*>(allocator_.allocate(100000, 64, error_));
  EXPECT_FALSE(allocator_.find(pointer, 1 << 30));
  EXPECT_FALSE(allocator_.find(pointer, ~std::size_t{0}));
  EXPECT_TRUE(allocator_.free(pointer));
  EXPECT_FALSE(allocator_.find(pointer, 1));
}

// Freeing twice, or something else, is refused and harms nothing.
TEST_F(ShmAlloc, RefusesWrongPointers) {
  auto* small = static_cast<char*>(allocator_.allocate(100, 64, error_));
  auto* large = static_cast<char*>(allocator_.allocate(100000, 64, error_));
  int other = 0;
  EXPECT_FALSE(allocator_.free(&other));
  EXPECT_FALSE(allocator_.free(nullptr));
  EXPECT_FALSE(allocator_.free(small + 1));
  EXPECT_FALSE(allocator_.free(large + 64));
  EXPECT_TRUE(allocator_.free(small));
  EXPECT_FALSE(allocator_.free(small));
  EXPECT_TRUE(allocator_.free(large));
  EXPECT_FALSE(allocator_.free(large));
}

// Thousands of small pieces take a few descriptors only.
TEST_F(ShmAlloc, SmallPiecesShareSegments) {
  std::map<int, int> descriptors;
  for (int i = 0; i < 5000; ++i) {
    void* pointer = allocator_.allocate(200, 64, error_);
    ASSERT_NE(pointer, nullptr) << error_;
    ++descriptors[allocator_.find(pointer, 200)->segment.fd];
  }
  EXPECT_LE(descriptors.size(), 2u);
}

// Any sequence of allocations and frees: pieces never overlap and keep their contents.
TEST_F(ShmAlloc, PiecesNeverOverlap) {
  std::mt19937 random(1);
  std::map<unsigned char*, std::pair<std::size_t, unsigned char>> held;
  for (int step = 0; step < 5000; ++step) {
    if (held.size() < 200 && random() % 2 == 0) {
      const std::size_t bytes = random() % (random() % 20 == 0 ? 200000 : 3000);
      auto* pointer = static_cast<unsigned char*>(allocator_.allocate(bytes, 64, error_));
      ASSERT_NE(pointer, nullptr) << error_;
      const auto mark = static_cast<unsigned char>(step);
      std::memset(pointer, mark, bytes);
      ASSERT_TRUE(held.emplace(pointer, std::pair(bytes, mark)).second);
    } else if (!held.empty()) {
      const auto victim = std::next(held.begin(), random() % held.size());
      const auto [bytes, mark] = victim->second;
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(victim->first[i], mark);
      ASSERT_TRUE(allocator_.free(victim->first));
      held.erase(victim);
    }
  }
}

// Sizes that overflow are refused with a sentence.
TEST_F(ShmAlloc, RefusesTheImpossible) {
  EXPECT_EQ(allocator_.allocate(~std::size_t{0} - 100, 1 << 20, error_), nullptr);
  EXPECT_FALSE(error_.empty());
  error_.clear();
  EXPECT_EQ(allocator_.allocate(~std::size_t{0} - 100, 64, error_), nullptr);
  EXPECT_FALSE(error_.empty());
}

}  // namespace
}  // namespace oriel
