// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Environment;
using shm_test::Pipe;

constexpr std::uint64_t extent = std::uint64_t{1} << 24;

/// Both kinds of files, by the value of ORIEL_MEMFD.
class ShmArena : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ::alarm(120); }
  void TearDown() override { ::alarm(0); }
  std::byte* allocate(std::uint64_t bytes, std::uint64_t alignment = 64) {
    std::byte* piece = arena_.allocate(bytes, alignment, error_);
    EXPECT_NE(piece, nullptr) << error_;
    return piece;
  }

  Environment kind_{"ORIEL_MEMFD", GetParam()};
  Arena arena_{extent};
  std::string error_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, ShmArena, ::testing::Values("1", "0"));

bool aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// Without the one that looking takes.
std::size_t descriptors() {
  return static_cast<std::size_t>(
             std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                           std::filesystem::directory_iterator())) -
         1;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

/// What the kernel has given the file.
std::uint64_t memory_of(const Arena& arena) {
  struct stat status{};
  EXPECT_EQ(::fstat(arena.name().fd, &status), 0);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

bool zeroed(const std::byte* piece, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (piece[i] != std::byte{0}) return false;
  }
  return true;
}

// G2: memory of every size is found by peers, at the place where it really is.
TEST_P(ShmArena, PeersSeeEveryPiece) {
  std::vector<std::byte*> pieces;
  for (const std::size_t bytes : {1ul, 64ul, 65ul, 4096ul, 65537ul, 5000000ul, 20000000ul}) {
    std::byte* piece = allocate(bytes);
    std::memset(piece, 0x5a, bytes);
    const auto place = arena_.find(piece, bytes);
    ASSERT_TRUE(place) << bytes;
    EXPECT_EQ(arena_.at(*place), piece);
    PeerArena peer(arena_.name());
    std::byte* seen = peer.at(*place, bytes, error_);
    ASSERT_NE(seen, nullptr) << error_;
    EXPECT_NE(seen, piece);
    EXPECT_EQ(std::memcmp(seen, piece, bytes), 0);
    seen[bytes - 1] = std::byte{1};
    EXPECT_EQ(piece[bytes - 1], std::byte{1});
    pieces.push_back(piece);
  }
  for (std::byte* piece : pieces) EXPECT_TRUE(arena_.free(piece));
}

// What one process writes another one reads, in both directions, and the memory begins zeroed.
TEST_P(ShmArena, IsSharedByProcesses) {
  std::byte* mine = allocate(10000);
  const ArenaLocation place = *arena_.find(mine, 10000);
  Pipe go;
  Child child([&] {
    std::string error;
    PeerArena parent(arena_.name());
    std::byte* theirs = parent.at(place, 10000, error);
    if (theirs == nullptr || !zeroed(theirs + 1, 9999)) return 1;
    go.get<int>();
    if (theirs[0] != std::byte{42}) return 2;
    theirs[9999] = std::byte{43};
    return 0;
  });
  mine[0] = std::byte{42};
  go.put(1);
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(mine[9999], std::byte{43});
}

// Whatever was in it, memory is zeroed when it is handed out again: a control block of zeroes is an
// idle one.
TEST_P(ShmArena, IsZeroedWhenHandedOutAgain) {
  for (const std::size_t bytes : {1ul, 500ul, 4095ul, 4096ul, 4097ul, 1000000ul}) {
    std::byte* first = allocate(bytes);
    ASSERT_TRUE(zeroed(first, bytes));
    std::memset(first, 0xff, bytes);
    ASSERT_TRUE(arena_.free(first));
    std::byte* second = allocate(bytes);
    EXPECT_EQ(second, first) << bytes;
    EXPECT_TRUE(zeroed(second, bytes)) << bytes;
    std::memset(second, 0xff, bytes);
    ASSERT_TRUE(arena_.free(second));
  }
}

// Peers, too, see what is in the memory now, without mapping anything again.
TEST_P(ShmArena, PeersSeeMemoryThatIsHandedOutAgain) {
  allocate(1);
  PeerArena peer(arena_.name());
  for (int round = 1; round < 10; ++round) {
    std::byte* piece = allocate(100000);
    std::byte* seen = peer.at(*arena_.find(piece, 100000), 100000, error_);
    ASSERT_NE(seen, nullptr) << error_;
    EXPECT_EQ(seen[77777], std::byte{0});
    seen[77777] = static_cast<std::byte>(round);
    EXPECT_EQ(piece[77777], static_cast<std::byte>(round));
    ASSERT_TRUE(arena_.free(piece));
  }
}

// Large pieces give their memory back, small ones keep the page that they share.
TEST_P(ShmArena, GivesMemoryBack) {
  std::byte* small = allocate(64);
  std::memset(small, 1, 64);
  const std::uint64_t before = memory_of(arena_);
  const std::uint64_t allocated = arena_.allocated();
  std::byte* large = allocate(8000000);
  EXPECT_EQ(arena_.allocated(), allocated + 8000000);
  std::memset(large, 1, 8000000);
  EXPECT_GE(memory_of(arena_), before + 8000000);
  ASSERT_TRUE(arena_.free(large));
  EXPECT_EQ(memory_of(arena_), before);
  EXPECT_EQ(arena_.allocated(), allocated);
  EXPECT_EQ(small[63], std::byte{1});
}

// mpi_minimum_memory_alignment may ask for more than a page, also in another process's eyes.
TEST_P(ShmArena, HonoursAlignment) {
  for (std::size_t alignment = 1; alignment <= 2 * 1024 * 1024; alignment *= 2) {
    std::byte* small = allocate(8, alignment);
    std::byte* large = allocate(100000, alignment);
    EXPECT_TRUE(aligned(small, std::max<std::size_t>(alignment, 64))) << alignment;
    EXPECT_TRUE(aligned(large, alignment)) << alignment;
    EXPECT_TRUE(arena_.free(small));
    EXPECT_TRUE(arena_.free(large));
  }
}

// A range that begins or ends outside our pieces is private memory.
TEST_P(ShmArena, DoesNotFindWhatIsNotItsOwn) {
  const int on_the_stack = 0;
  EXPECT_FALSE(arena_.find(&on_the_stack, 4));
  EXPECT_FALSE(arena_.find(nullptr, 0));
  std::byte* piece = allocate(100000);
  EXPECT_TRUE(arena_.find(piece, 100000));
  EXPECT_TRUE(arena_.find(piece + 99999, 1));
  EXPECT_FALSE(arena_.find(piece + 99999, 2));
  EXPECT_FALSE(arena_.find(piece, 1 << 30));
  EXPECT_FALSE(arena_.find(piece, ~std::uint64_t{0}));
  EXPECT_TRUE(arena_.free(piece));
  EXPECT_FALSE(arena_.find(piece, 1));
}

// Freeing twice, or something else, is refused and harms nothing.
TEST_P(ShmArena, RefusesWrongPointers) {
  std::byte* small = allocate(100);
  std::byte* large = allocate(100000);
  int other = 0;
  EXPECT_FALSE(arena_.free(&other));
  EXPECT_FALSE(arena_.free(nullptr));
  EXPECT_FALSE(arena_.free(small + 1));
  EXPECT_FALSE(arena_.free(large + 64));
  EXPECT_TRUE(arena_.free(small));
  EXPECT_FALSE(arena_.free(small));
  EXPECT_TRUE(arena_.free(large));
  EXPECT_FALSE(arena_.free(large));
}

// A piece that somebody may still touch gives its memory back and not its place.
TEST_P(ShmArena, PlacesOfRetiredPiecesAreNotUsedAgain) {
  for (const std::size_t bytes : {100ul, 100000ul}) {
    std::byte* retired = allocate(bytes);
    ASSERT_TRUE(arena_.retire(retired));
    EXPECT_FALSE(arena_.free(retired));
    retired[0] = std::byte{1};
    for (int i = 0; i < 20; ++i) EXPECT_NE(allocate(bytes), retired);
  }
}

// Thousands of pieces of all sizes, here and seen by a peer: two descriptors, of which the peer has
// closed the second, and one mapping each, besides what is reserved.
TEST_P(ShmArena, PiecesCostNeitherDescriptorsNorMappings) {
  Arena arena(std::uint64_t{1} << 28);
  ASSERT_NE(arena.allocate(1, 1, error_), nullptr);
  PeerArena peer(arena.name());
  const std::size_t descriptors_before = descriptors();
  const std::size_t mappings_before = mappings();
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::uint64_t bytes = i % 100 == 0 ? 1000000 : i % 5000;
    std::byte* piece = arena.allocate(bytes, 64, error_);
    ASSERT_NE(piece, nullptr) << error_;
    ASSERT_NE(peer.at(*arena.find(piece, bytes), bytes, error_), nullptr) << error_;
  }
  EXPECT_EQ(descriptors(), descriptors_before);
  EXPECT_LE(mappings(), mappings_before + 4);  // the heap may grow as well
}

// More than the first extent holds: others of twice the size, and one that holds a piece which is
// larger than that. What is freed in the first is used first.
TEST(ShmArenaMemory, GrowsByExtents) {
  Arena arena(extent);
  std::string error;
  std::vector<std::byte*> pieces;
  std::vector<std::uint64_t> extents;
  for (const std::uint64_t bytes : {extent / 2, extent, 2 * extent, 16 * extent + 1}) {
    pieces.push_back(arena.allocate(bytes, 64, error));
    ASSERT_NE(pieces.back(), nullptr) << error;
    pieces.back()[bytes - 1] = std::byte{1};
    extents.push_back(arena.find(pieces.back(), bytes)->extent_bytes);
  }
  EXPECT_EQ(extents, (std::vector{extent, 2 * extent, 4 * extent, 32 * extent}));
  PeerArena peer(arena.name());
  for (std::byte* piece : pieces) {
    piece[0] = std::byte{2};
    const std::byte* seen = peer.at(*arena.find(piece, 1), 1, error);
    ASSERT_NE(seen, nullptr) << error;
    EXPECT_EQ(*seen, std::byte{2});
  }
  EXPECT_TRUE(arena.free(pieces.front()));
  EXPECT_EQ(arena.allocate(1000000, 64, error), pieces.front());
}

// Any sequence of allocations and frees: pieces never overlap and keep their contents.
TEST_P(ShmArena, PiecesNeverOverlap) {
  std::mt19937 random(1);
  std::map<std::byte*, std::pair<std::size_t, std::byte>> held;
  for (int step = 0; step < 5000; ++step) {
    if (held.size() < 200 && random() % 2 == 0) {
      const std::size_t bytes = random() % (random() % 20 == 0 ? 200000 : 3000);
      std::byte* piece = allocate(bytes);
      ASSERT_TRUE(zeroed(piece, bytes));
      const auto mark = static_cast<std::byte>(step);
      std::memset(piece, step, bytes);
      ASSERT_TRUE(held.emplace(piece, std::pair(bytes, mark)).second);
    } else if (!held.empty()) {
      const auto victim = std::next(held.begin(), random() % held.size());
      const auto [bytes, mark] = victim->second;
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(victim->first[i], mark);
      ASSERT_TRUE(arena_.free(victim->first));
      held.erase(victim);
    }
  }
}

// Sizes that nobody has are refused with a sentence, and harm nothing.
TEST_P(ShmArena, RefusesTheImpossible) {
  for (const std::uint64_t bytes :
       {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 46}) {
    error_.clear();
    EXPECT_EQ(arena_.allocate(bytes, 64, error_), nullptr);
    EXPECT_FALSE(error_.empty());
  }
  EXPECT_NE(allocate(1000), nullptr);
}

// A full /dev/shm is an error where the memory is handed out, not a SIGBUS at the first touch.
TEST(ShmArenaLimits, FullFileSystemIsAnError) {
  const Environment posix("ORIEL_MEMFD", "0");
  const std::uint64_t all = std::filesystem::space("/dev/shm").capacity;
  if (all == 0 || all > std::uint64_t{1} << 40) GTEST_SKIP() << "/dev/shm has no limit here";
  Arena arena(extent);
  std::string error;
  EXPECT_EQ(arena.allocate(all + 4096, 64, error), nullptr);
  EXPECT_NE(error.find("/dev/shm"), std::string::npos) << error;
  EXPECT_NE(arena.allocate(4096, 64, error), nullptr) << error;
}

// Nobody but the user may open the memory, and it has no name that could stay behind.
TEST_P(ShmArena, IsPrivateAndNameless) {
  allocate(4096);
  struct stat status{};
  ASSERT_EQ(::fstat(arena_.name().fd, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_NE(::fcntl(arena_.name().fd, F_GETFD) & FD_CLOEXEC, 0);
  const std::string link = "/proc/self/fd/" + std::to_string(arena_.name().fd);
  const std::string file = std::filesystem::read_symlink(link).string();
  EXPECT_TRUE(file.ends_with(" (deleted)")) << file;
}

// An owner that is killed leaves nothing behind; who has mapped the memory keeps it.
TEST_P(ShmArena, OutlivesItsKilledOwnerOnlyWhereMapped) {
  Pipe names, places;
  Child owner([&] {
    std::string error;
    Arena arena(extent);
    std::byte* piece = arena.allocate(4096, 64, error);
    piece[5] = std::byte{7};
    names.put(arena.name());
    places.put(*arena.find(piece, 4096));
    ::pause();
    return 0;
  });
  const auto name = names.get<ArenaName>();
  const auto place = places.get<ArenaLocation>();
  PeerArena mapped(name);
  const std::byte* seen = mapped.at(place, 4096, error_);
  ASSERT_NE(seen, nullptr) << error_;
  owner.kill();
  EXPECT_EQ(owner.join(), -SIGKILL);
  EXPECT_EQ(seen[5], std::byte{7});
  EXPECT_EQ(PeerArena(name).at(place, 4096, error_), nullptr);
  EXPECT_NE(error_.find(std::to_string(name.pid)), std::string::npos) << error_;
}

// A number that belongs to another process, or another file, is noticed before anything is mapped.
TEST_P(ShmArena, NoticesAnotherFileBehindTheName) {
  const ArenaLocation place = *arena_.find(allocate(4096), 4096);
  Arena other(extent);
  ASSERT_NE(other.allocate(4096, 64, error_), nullptr);
  ArenaName name = arena_.name();
  name.fd = other.name().fd;
  EXPECT_EQ(PeerArena(name).at(place, 4096, error_), nullptr);
  EXPECT_NE(error_.find("another process"), std::string::npos) << error_;
  EXPECT_EQ(PeerArena(arena_.name()).at(place, extent, error_), nullptr);
  EXPECT_NE(error_.find("less than it announced"), std::string::npos) << error_;
}

// A child after fork neither hands out its parent's memory nor gives it back.
TEST_P(ShmArena, BelongsToTheParentAfterFork) {
  std::byte* small = allocate(100);
  std::byte* large = allocate(100000);
  std::memset(small, 3, 100);
  std::memset(large, 4, 100000);
  Child child([&] {
    std::string error;
    if (arena_.allocate(100, 64, error) != nullptr || error.empty()) return 1;
    if (small[0] != std::byte{3} || large[0] != std::byte{4}) return 2;
    return arena_.free(small) && arena_.free(large) && !arena_.free(large) ? 0 : 3;
  });
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(small[99], std::byte{3});
  EXPECT_EQ(large[99999], std::byte{4});
  EXPECT_TRUE(arena_.free(small));
  EXPECT_TRUE(arena_.free(large));
}

// Pages that nobody touches take no memory, when a piece is handed out as little as when it is
// given back: control blocks count on it.
TEST(ShmArenaMemory, UntouchedPagesStayUntouched) {
  std::string error;
  Arena arena(std::uint64_t{1} << 28);
  std::byte* piece = arena.allocate(1 << 26, 64, error);
  ASSERT_NE(piece, nullptr) << error;
  piece[1 << 20] = std::byte{1};
  EXPECT_LE(memory_of(arena), 1u << 21);  // one page, or one huge page
  ASSERT_TRUE(arena.free(piece));
  EXPECT_EQ(memory_of(arena), 0u);
}

// Sanitizers take more address space than the limit themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The address space is reserved where it is not limited; where it is, only as much as is needed.
TEST(ShmArenaMemory, TakesLittleOfALimitedAddressSpace) {
  EXPECT_EQ(Arena::usual_extent(), std::uint64_t{1} << 36);
  Child limited([] {
    const rlimit limit{std::uint64_t{1} << 33, std::uint64_t{1} << 33};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    Arena usual;
    Arena greedy(std::uint64_t{1} << 36);
    std::string error;
    if (Arena::usual_extent() != 1 << 24 || usual.allocate(100, 64, error) == nullptr) return 2;
    return greedy.allocate(100, 64, error) != nullptr ? 0 : 3;
  });
  EXPECT_EQ(limited.join(), 0);
}

#endif

}  // namespace
}  // namespace oriel
