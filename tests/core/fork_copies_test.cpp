// SPDX-License-Identifier: BSD-3-Clause
// G8: memory of MPI_Alloc_mem that peers do not use is private to the child of a fork, as on the
// hosts: the child has it as it was at the fork, and its parent does not see what the child stores.
#include "transport/shm/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Environment;
using shm_test::Pipe;
using Word = volatile std::uint64_t;

/// Both kinds of files, by the value of ORIEL_MEMFD.
class ForkCopiesTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ::alarm(120); }
  void TearDown() override { ::alarm(0); }
  Word* allocate(std::size_t bytes) {
    return reinterpret_cast<Word*>(arena_.allocate_for_program(bytes, 64, error_));
  }
  ArenaLocation place(Word* memory) const {
    return arena_.find(const_cast<std::uint64_t*>(memory), 8).value();
  }
  /// Whether a child and its parent see what the other one stores after the fork.
  static bool shares(Word* memory) {
    *memory = 1;
    Pipe to_child;
    Child child([&] {
      to_child.get<char>();
      const std::uint64_t found = *memory;
      *memory = 3;
      return static_cast<int>(found);
    });
    *memory = 2;
    to_child.put('x');
    const int child_found = child.join();
    EXPECT_EQ(*memory, child_found == 2 ? 3u : 2u) << "both, or neither";
    return child_found == 2;
  }

  Environment kind_{"ORIEL_MEMFD", GetParam()};
  Arena arena_{std::uint64_t{1} << 24};
  std::string error_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, ForkCopiesTest, ::testing::Values("1", "0"));

TEST_P(ForkCopiesTest, MemoryOfTheProgramIsCopied) {
  for (const std::size_t bytes : {std::size_t{64}, 3 * page_size() + 8, std::size_t{1} << 25}) {
    Word* const memory = allocate(bytes);
    ASSERT_NE(memory, nullptr) << error_;
    EXPECT_FALSE(shares(memory)) << bytes;
    EXPECT_FALSE(shares(memory + bytes / 8 - 1)) << bytes;
  }
}

TEST_P(ForkCopiesTest, MemoryThatPeersUseIsShared) {
  Word* const memory = allocate(4 * page_size());
  ASSERT_NE(memory, nullptr) << error_;
  arena_.begin_use(place(memory));
  arena_.begin_use(place(memory + 100));  // of two windows on parts of it
  EXPECT_TRUE(shares(memory));
  arena_.end_use(place(memory));
  EXPECT_TRUE(shares(memory));
  arena_.end_use(place(memory + 100));
  EXPECT_FALSE(shares(memory));
}

TEST_P(ForkCopiesTest, MemoryOfOrielsOwnIsShared) {
  auto* const memory = reinterpret_cast<Word*>(arena_.allocate(page_size(), 64, error_));
  ASSERT_NE(memory, nullptr) << error_;
  EXPECT_TRUE(shares(memory));
  arena_.end_use(place(memory));  // means nothing there
  EXPECT_TRUE(shares(memory));
}

// A program may free memory before the window on it, and have the place again.
TEST_P(ForkCopiesTest, AnEndWithoutABeginIsNothing) {
  Word* memory = allocate(page_size());
  ASSERT_NE(memory, nullptr) << error_;
  const ArenaLocation location = place(memory);
  arena_.begin_use(location);
  ASSERT_TRUE(arena_.free(const_cast<std::uint64_t*>(memory)));
  memory = allocate(page_size());
  ASSERT_EQ(place(memory).offset, location.offset);
  arena_.end_use(location);
  EXPECT_FALSE(shares(memory));
  arena_.begin_use(location);
  EXPECT_TRUE(shares(memory));
}

TEST_P(ForkCopiesTest, AnEndOfFreedMemoryIsNothingToItsNeighbours) {
  Word* const first = allocate(page_size());
  Word* const second = allocate(page_size());
  Word* const third = allocate(page_size());
  ASSERT_NE(third, nullptr) << error_;
  const ArenaLocation places[] = {place(first), place(second)};
  for (Word* memory : {first, second, third}) arena_.begin_use(place(memory));
  ASSERT_TRUE(arena_.free(const_cast<std::uint64_t*>(second)));
  arena_.end_use(places[1]);
  EXPECT_TRUE(shares(first));
  ASSERT_TRUE(arena_.free(const_cast<std::uint64_t*>(first)));
  arena_.end_use(places[0]);
  EXPECT_TRUE(shares(third));
  ASSERT_TRUE(arena_.free(const_cast<std::uint64_t*>(third)));
  arena_.end_use(places[0]);
}

// Pieces of less than a page, Oriel's own among them, have their contents whoever gets a copy.
TEST_P(ForkCopiesTest, PiecesThatShareAPageKeepTheirContents) {
  std::vector<Word*> pieces;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::size_t bytes = 64 + 64 * (i % 7);
    pieces.push_back(i % 3 == 0 ? reinterpret_cast<Word*>(arena_.allocate(bytes, 64, error_))
                                : allocate(bytes));
    ASSERT_NE(pieces.back(), nullptr) << error_;
    *pieces.back() = i;
  }
  const auto all_right = [&] {
    for (std::uint64_t i = 0; i < pieces.size(); ++i) {
      if (*pieces[i] != i) return false;
    }
    return true;
  };
  EXPECT_EQ(Child([&] {
              if (!all_right()) return 1;
              // A child of the child has what the child has stored.
              *pieces[1] = 1001;
              return Child([&] {
                       const bool right = *pieces[1] == 1001;
                       *pieces[1] = 1;
                       return right && all_right() ? 0 : 3;
                     })
                  .join();
            }).join(),
            0);
  EXPECT_TRUE(all_right());
}

/// Of POSIX shared memory all pages exist from the beginning.
using ForkCopiesOfMemfd = ForkCopiesTest;
INSTANTIATE_TEST_SUITE_P(Kinds, ForkCopiesOfMemfd, ::testing::Values("1"));

TEST_P(ForkCopiesOfMemfd, PagesNeverTouchedTakeNoMemory) {
  constexpr std::size_t pages = 1000;
  Word* const memory = allocate(pages * page_size());
  ASSERT_NE(memory, nullptr) << error_;
  auto* const begin = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(memory));
  begin[10 * page_size()] = std::byte{1};
  EXPECT_EQ(Child([&] {
              std::vector<unsigned char> resident(pages);
              if (::mincore(begin, pages * page_size(), resident.data()) != 0) return 1;
              return std::ranges::count(resident, 1) == 1 && resident[10] == 1 ? 0 : 2;
            }).join(),
            0);
}

std::ptrdiff_t descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

TEST_P(ForkCopiesTest, NoDescriptorsAreLeft) {
  Word* const memory = allocate(page_size());
  ASSERT_NE(memory, nullptr) << error_;
  const std::ptrdiff_t before = descriptors();
  EXPECT_EQ(Child([&] { return descriptors() == before ? 0 : 1; }).join(), 0);
  EXPECT_EQ(descriptors(), before);
}

TEST_P(ForkCopiesTest, ForksBesideAThreadThatAllocates) {
  Word* const memory = allocate(page_size());
  std::atomic<bool> ends = false;
  std::thread allocator([&] {
    while (!ends) {
      std::string why;
      if (std::byte* more = arena_.allocate_for_program(2 * page_size(), 64, why)) {
        arena_.free(more);
      }
      ::usleep(100);  // a lock that is always held is not fair
    }
  });
  for (std::uint64_t i = 0; i < 20; ++i) {
    *memory = i;
    EXPECT_EQ(Child([&] { return *memory == i ? 0 : 1; }).join(), 0);
  }
  ends = true;
  allocator.join();
}

}  // namespace
}  // namespace oriel
