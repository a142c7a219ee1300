// SPDX-License-Identifier: BSD-3-Clause
// G11: private memory of a node peer is mapped by XPMEM. A stand-in for its library maps memory of
// a memfd (support/xpmem_stand_in.cpp).
#include "transport/shm/xpmem.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "core/operation/address.hpp"
#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Environment;
using shm_test::file_pages;
using shm_test::OwnTransport;
using shm_test::Pipe;
using shm_test::ShmTest;

constexpr std::uint64_t page = 4096;
constexpr const char* stand_in = ORIEL_XPMEM_STAND_IN;

/// The value of a counter of the stand-in in this process.
std::uint64_t count(const char* name) {
  void* library = ::dlopen(stand_in, RTLD_NOW);
  const auto function = reinterpret_cast<std::uint64_t (*)()>(::dlsym(library, name));
  const std::uint64_t counted = function();
  ::dlclose(library);
  return counted;
}

class ShmXpmem : public ShmTest {
 protected:
  /// Runs `body(transport)` in the peer.
  template <typename Body>
  void start(Body body) {
    child_ = std::make_unique<Child>([this, body] {
      std::string error;
      const OwnTransport transport(error);
      if (!transport) return 100;
      to_parent_.put(transport->name());
      return body(*transport);
    });
    attach();
  }
  /// Runs a peer that tells where this memory of its own is, and then waits.
  void start_owner(std::byte* (*make)(), std::uint64_t bytes) {
    start([=, this](ShmTransport& transport) {
      std::byte* memory = make();
      std::memset(memory, 7, 8);
      to_parent_.put(transport.locate(memory, bytes));
      to_child_.get<int>();
      return static_cast<int>(memory[0]);
    });
    range_ = to_parent_.get<MemoryRange>();
  }
  void attach() {
    std::string error;
    mine_ = OwnTransport(error);
    peer_ = mine_->attach(to_parent_.get<ProcessName>(), error);
    ASSERT_EQ(peer_, 1) << error;
  }
  /// Lets the owner end. Returns the first byte of its memory.
  int end() {
    to_child_.put(0);
    return child_->join();
  }
  /// Stores into the owner's memory by a system call.
  void copy(std::byte value) {
    const oriel::Run run{&value, range_.address, 1};
    EXPECT_EQ(mine_->copy(peer_, true, {&run, 1}), Error::none);
  }

  Environment library_{"ORIEL_XPMEM", stand_in};
  Pipe to_parent_, to_child_;
  std::unique_ptr<Child> child_;
  OwnTransport mine_;
  int peer_ = -1;
  MemoryRange range_;
};

TEST_F(ShmXpmem, PrivateMemoryOfAPeerIsMapped) {
  start_owner([] { return file_pages(3 * page) + 16; }, 2 * page);
  EXPECT_FALSE(range_.location.shared());
  ASSERT_TRUE(range_.mappable());
  std::byte* memory = mine_->map_range(peer_, range_);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory[7], std::byte{7});
  memory[0] = std::byte{9};
  EXPECT_EQ(end(), 9);
}

// A mapping serves all ranges within it, and as long as the transport: the memory may be freed and
// used again.
TEST_F(ShmXpmem, MappingsAreKept) {
  start_owner([] { return file_pages(8 * page); }, 8 * page);
  std::byte* memory = mine_->map_range(peer_, range_);
  ASSERT_NE(memory, nullptr);
  const std::uint64_t made = count("xpmem_stand_in_made");
  const std::uint64_t mapped = count("xpmem_stand_in_mapped");
  for (const std::uint64_t offset : {std::uint64_t{0}, page + 24, 7 * page}) {
    const MemoryRange part{range_.address + offset, page, range_.location};
    EXPECT_EQ(mine_->map_range(peer_, part), memory + offset);
  }
  EXPECT_EQ(count("xpmem_stand_in_made"), made);
  end();
  mine_ = OwnTransport();
  EXPECT_EQ(count("xpmem_stand_in_mapped"), mapped - 1);
}

// Ranges that begin together and end apart: the longest mapping serves both from then on.
TEST_F(ShmXpmem, ALongerRangeGetsAMappingOfItsOwn) {
  constexpr std::uint64_t bytes = std::uint64_t{40} << 20;
  start_owner([] { return file_pages(bytes); }, bytes);
  MemoryRange part = range_;
  part.bytes = page;
  std::byte* first = mine_->map_range(peer_, part);
  ASSERT_NE(first, nullptr);
  std::byte* whole = mine_->map_range(peer_, range_);
  ASSERT_NE(whole, nullptr);
  first[0] = std::byte{5};
  EXPECT_EQ(whole[0], std::byte{5});
  whole[bytes - 1] = std::byte{1};
  const std::uint64_t made = count("xpmem_stand_in_made");
  part.address += bytes - page;
  EXPECT_NE(mine_->map_range(peer_, part), nullptr);
  part.address = range_.address;
  EXPECT_NE(mine_->map_range(peer_, part), nullptr);
  EXPECT_EQ(count("xpmem_stand_in_made"), made);
  end();
}

// If the addresses beside a range cannot be mapped, the range alone is mapped.
TEST_F(ShmXpmem, NeighboursNeedNotBeMappable) {
  start_owner(
      [] {
        auto* place = static_cast<std::byte*>(
            ::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        const int file = ::memfd_create("page", 0);
        void* const middle = place + page;
        if (::ftruncate(file, page) != 0 || ::mmap(middle, page, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_FIXED, file, 0) != middle) {
          return place;
        }
        return place + page;
      },
      page);
  std::byte* memory = mine_->map_range(peer_, range_);
  ASSERT_NE(memory, nullptr);
  memory[0] = std::byte{3};
  EXPECT_EQ(end(), 3);
}

// A page that was mapped alone does not hide the mapping of its block, which can be made later: the
// block is mapped once.
TEST_F(ShmXpmem, ABlockIsMappedOnceBehindAPageOfIt) {
  start([this](ShmTransport& transport) {
    constexpr std::uint64_t block = std::uint64_t{8} << 20;
    void* const reserved =
        ::mmap(nullptr, 2 * block, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ::munmap(reserved, 2 * block);
    auto* const begin =
        reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(reserved), block));
    const int file = ::memfd_create("pages", 0);
    if (::ftruncate(file, 2 * page) != 0) return 101;
    const auto place = [&](std::uint64_t at, int flags, int of, off_t offset) {
      return ::mmap(begin + at, page, PROT_READ | PROT_WRITE, flags | MAP_FIXED, of, offset);
    };
    // Private pages in the block: the stand-in refuses it.
    place(2 * page, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    place(4 * page, MAP_SHARED, file, 0);
    to_parent_.put(transport.locate(begin + 4 * page, page));
    to_child_.get<int>();
    ::munmap(begin + 2 * page, page);
    place(6 * page, MAP_SHARED, file, page);
    to_parent_.put(transport.locate(begin + 6 * page, page));
    return to_child_.get<int>();
  });
  EXPECT_NE(mine_->map_range(peer_, to_parent_.get<MemoryRange>()), nullptr);
  to_child_.put(0);
  range_ = to_parent_.get<MemoryRange>();
  std::byte* const memory = mine_->map_range(peer_, range_);
  ASSERT_NE(memory, nullptr);
  const std::uint64_t made = count("xpmem_stand_in_made");
  EXPECT_EQ(mine_->map_range(peer_, range_), memory);
  EXPECT_EQ(count("xpmem_stand_in_made"), made);
  end();
}

// A mapping that the kernel makes and whose pages it refuses is given up, before an access to it
// would end the process.
TEST_F(ShmXpmem, AMappingWithoutPagesIsNotUsed) {
  start([this](ShmTransport& transport) {
    std::byte* memory = file_pages(page);
    const MemoryRange range = transport.locate(memory, page);
    ::munmap(memory, page);
    to_parent_.put(range);
    return to_child_.get<int>();
  });
  range_ = to_parent_.get<MemoryRange>();
  ASSERT_TRUE(range_.mappable());
  const std::uint64_t mapped = count("xpmem_stand_in_mapped");
  EXPECT_EQ(mine_->map_range(peer_, range_), nullptr);
  EXPECT_EQ(count("xpmem_stand_in_mapped"), mapped);
  end();
}

// Memory that its owner cannot store is reached as without XPMEM, where an operation on it is an
// error.
TEST_F(ShmXpmem, MemoryThatCannotBeStoredIsNotExposed) {
  start_owner(
      [] {
        std::byte* memory = file_pages(2 * page);
        ::mprotect(memory + page, page, PROT_READ);
        return memory;
      },
      2 * page);
  EXPECT_FALSE(range_.mappable());
  end();
}

// The owner has examined the memory to expose it, and examines it again for an errand.
TEST_F(ShmXpmem, AnOwnerDeclinesWhatIsProtectedSince) {
  start([this](ShmTransport& transport) {
    std::byte* memory = file_pages(page);
    const MemoryRange range = transport.locate(memory, page);
    ::mprotect(memory, page, PROT_NONE);
    std::uint64_t words[2] = {0, 0};
    std::uint64_t* first = words;
    to_parent_.put(range);
    to_parent_.put(first);
    const std::atomic_ref<std::uint64_t> over(words[1]);
    while (over.load() == 0) transport.serve(true);
    return 0;
  });
  range_ = to_parent_.get<MemoryRange>();
  const auto words = reinterpret_cast<std::uint64_t>(to_parent_.get<std::uint64_t*>());
  EXPECT_TRUE(range_.mappable());
  const std::uint64_t value = 1;
  const auto carried_out = [&](std::uint64_t address, int tries) {
    for (; tries != 0; --tries) {
      Errand errand = Errand::put(address, &value, 8);
      if (mine_->ask(peer_, errand)) return true;
    }
    return false;
  };
  EXPECT_TRUE(carried_out(words, 10'000'000));  // the owner begins to serve
  EXPECT_FALSE(carried_out(range_.address, 20'000));
  const oriel::Run stop{const_cast<std::uint64_t*>(&value), words + 8, 8};
  EXPECT_EQ(mine_->copy(peer_, true, {&stop, 1}), Error::none);
  EXPECT_EQ(child_->join(), 0);
}

TEST_F(ShmXpmem, MemoryOfTheArenaIsSharedAsBefore) {
  std::string error;
  const OwnTransport transport(error);
  ArenaLocation location;
  std::byte* memory = transport->share(page, location);
  EXPECT_TRUE(transport->locate(memory, page).location.shared());
  EXPECT_FALSE(transport->locate(memory, 0).space());
  EXPECT_FALSE(transport->locate(&error, 0).mappable());
  transport->unshare(memory);
}

// The library, or a step of it, fails at the owner: nothing is exposed.
TEST_F(ShmXpmem, WithoutXpmemMemoryIsReachedBySystemCalls) {
  const auto try_it = [this] {
    start_owner([] { return file_pages(page); }, page);
    EXPECT_FALSE(range_.mappable());
    EXPECT_EQ(mine_->map_range(peer_, range_), nullptr);
    copy(std::byte{4});
    EXPECT_EQ(end(), 4);
  };
  for (const char* named : {"0", "/no/such/library.so", "libc.so.6"}) {
    const Environment other("ORIEL_XPMEM", named);
    try_it();
  }
  const Environment library("ORIEL_XPMEM", stand_in);
  for (const char* refused : {"device", "make"}) {
    const Environment refusing("ORIEL_TEST_XPMEM", refused);
    try_it();
  }
}

// A step fails at the peer alone.
TEST_F(ShmXpmem, APeerThatCannotMapUsesSystemCalls) {
  for (const char* refused : {"get", "attach", "device"}) {
    start_owner([] { return file_pages(page); }, page);
    EXPECT_TRUE(range_.mappable());
    const Environment refusing("ORIEL_TEST_XPMEM", refused);
    EXPECT_EQ(mine_->map_range(peer_, range_), nullptr);
    copy(std::byte{4});
    EXPECT_EQ(end(), 4);
  }
}

// The program needs mappings, too.
TEST_F(ShmXpmem, MappingsAreLimited) {
  start_owner([] { return file_pages(page); }, page);
  const auto xpmem = Xpmem::load();
  ASSERT_NE(xpmem, nullptr);
  const Xpmem::Permit permit = xpmem->get(range_.space());
  std::vector<std::byte*> made;
  // The owner has nothing there, which the stand-in sees soonest.
  while (std::byte* mapping = xpmem->map(permit, page, page)) made.push_back(mapping);
  EXPECT_EQ(made.size(), 16'384u);
  xpmem->unmap(made.back());
  made.back() = xpmem->map(permit, page, page);
  EXPECT_NE(made.back(), nullptr);
  for (std::byte* mapping : made) xpmem->unmap(mapping);
  xpmem->release(permit);
  end();
}

}  // namespace
}  // namespace oriel
