// SPDX-License-Identifier: BSD-3-Clause
// Private memory that is moved into the arena while windows use it.
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "transport/shm/adopted_memory.hpp"
#include "transport/shm/frozen_pages.hpp"

namespace {

/// Whether this program's mremap ignores the new address.
bool drops_new_address = false;

}  // namespace

/// Takes the place of the C library's function, as the one of UCX does; UCX before 1.15 passes on
/// the first four arguments only.
extern "C" void* mremap(void* memory, std::size_t old_bytes, std::size_t new_bytes, int flags,
                        ...) noexcept {
  void* new_address = nullptr;
  if ((flags & MREMAP_FIXED) != 0 && !drops_new_address) {
    va_list arguments;
    va_start(arguments, flags);
    new_address = va_arg(arguments, void*);
    va_end(arguments);
  }
  return reinterpret_cast<void*>(
      ::syscall(SYS_mremap, memory, old_bytes, new_bytes, flags, new_address));
}

namespace oriel::test {
namespace {

/// Private pages from the system.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * page_size()) {
    data_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~Pages() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::byte* page(std::size_t number) const { return data_ + number * page_size(); }
  /// A word of the page, by which it is told from others.
  volatile std::uint64_t& word(std::size_t number) const {
    return *reinterpret_cast<volatile std::uint64_t*>(page(number));
  }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

class Adopted : public ::testing::Test {
 protected:
  MemoryRange adopt(const Pages& pages) { return memory_.adopt(pages.data(), pages.bytes(), why_); }
  /// A word of an adopted page, as peers see it.
  volatile std::uint64_t& peers(const MemoryRange& range, std::size_t page) {
    ArenaLocation place = range.location;
    place.offset += page * page_size();
    return *reinterpret_cast<volatile std::uint64_t*>(arena_.at(place));
  }
  /// Carries out the body in the child of a fork, which has to return true.
  static bool in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  Arena arena_{1 << 26};
  AdoptedMemory memory_{arena_, Adoption::always};
  std::string why_;
};

TEST_F(Adopted, IsMappedByPeersAndKeepsItsContents) {
  Pages pages(5);
  for (std::size_t i = 0; i < 5; ++i) pages.word(i) = 100 + i;
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.wholly_shared()) << why_;
  EXPECT_EQ(range.shared_bytes(), pages.bytes());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(pages.word(i), 100 + i);
    EXPECT_EQ(peers(range, i), 100 + i);
    peers(range, i) = 200 + i;
    EXPECT_EQ(pages.word(i), 200 + i);
    pages.word(i) = 300 + i;
    EXPECT_EQ(peers(range, i), 300 + i);
  }
  memory_.release(range);
  EXPECT_EQ(memory_.pieces(), 0u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(pages.word(i), 300 + i);
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
  const std::vector<Mapping> mappings = mappings_in(begin, begin + pages.bytes()).value();
  ASSERT_EQ(mappings.size(), 1u);
  EXPECT_TRUE(mappings.front().private_memory());
}

// Allocators count on that: what they give back to the system comes back as zeros.
TEST_F(Adopted, IsPrivateMemoryAgainAfterwards) {
  Pages pages(4);
  pages.word(1) = 7;
  memory_.release(adopt(pages));
  ASSERT_EQ(::madvise(pages.data(), pages.bytes(), MADV_DONTNEED), 0);
  EXPECT_EQ(pages.word(1), 0u);
}

TEST_F(Adopted, LeavesTheEndsWhereTheyAre) {
  const std::size_t page = page_size();
  Pages pages(5);
  for (const auto& [head, tail] :
       std::vector<std::array<std::size_t, 2>>{{16, 0}, {0, 8}, {1, 1}, {page - 1, page - 1}}) {
    std::memset(pages.data(), 1, pages.bytes());
    const std::size_t bytes = pages.bytes() - 2 * page + head + tail;
    const MemoryRange range = memory_.adopt(pages.page(1) - head, bytes, why_);
    ASSERT_TRUE(range.location.shared()) << why_;
    EXPECT_EQ(range.head, head);
    EXPECT_EQ(range.tail, tail);
    EXPECT_EQ(range.shared_bytes(), 3 * page);
    EXPECT_EQ(range.wholly_shared(), false);
    peers(range, 0) = 5;
    EXPECT_EQ(pages.word(1), 5u);
    memory_.release(range);
  }
  EXPECT_FALSE(memory_.adopt(pages.page(1) + 8, page, why_).location.shared());
  EXPECT_EQ(why_, "it has no whole page");
  EXPECT_FALSE(memory_.adopt(pages.page(1), 0, why_).location.shared());
}

TEST_F(Adopted, PagesNeverTouchedTakeNoMemory) {
  Pages pages(1000);
  pages.word(500) = 1;
  ASSERT_EQ(pages.word(501), 0u) << "read, which takes the kernel's page of zeros";
  const auto blocks = [&] {
    struct stat status{};
    EXPECT_EQ(::fstat(arena_.descriptor(), &status), 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  };
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.wholly_shared()) << why_;
  EXPECT_LE(blocks(), 2 * page_size());
  EXPECT_EQ(pages.word(999), 0u);
  memory_.release(range);
  EXPECT_EQ(blocks(), 0u);
  EXPECT_EQ(pages.word(500), 1u);
}

TEST_F(Adopted, IsUsedByAllWindowsOnIt) {
  Pages pages(6);
  pages.word(3) = 3;
  const MemoryRange all = adopt(pages);
  const MemoryRange again = adopt(pages);
  EXPECT_EQ(again.location.offset, all.location.offset);
  const MemoryRange part = memory_.adopt(pages.page(2) + 8, 3 * page_size(), why_);
  EXPECT_TRUE(part.wholly_shared()) << "ends within pages that are in the arena";
  EXPECT_EQ(part.location.offset, all.location.offset + 2 * page_size() + 8);
  EXPECT_EQ(memory_.pieces(), 1u);
  memory_.release(all);
  memory_.release(again);
  EXPECT_EQ(memory_.pieces(), 1u);
  pages.word(3) = 4;
  EXPECT_EQ(peers(all, 3), 4u);
  memory_.release(part);
  EXPECT_EQ(memory_.pieces(), 0u);
  EXPECT_EQ(pages.word(3), 4u);
}

TEST_F(Adopted, ALargerWindowHasAPartOfIt) {
  Pages pages(8);
  const MemoryRange inner = memory_.adopt(pages.page(2), 3 * page_size(), why_);
  const MemoryRange outer = adopt(pages);
  ASSERT_TRUE(outer.location.shared());
  EXPECT_EQ(outer.head, 2 * page_size());
  EXPECT_EQ(outer.tail, 3 * page_size());
  EXPECT_EQ(outer.location.offset, inner.location.offset);
  memory_.release(inner);
  pages.word(2) = 9;
  EXPECT_EQ(peers(outer, 0), 9u);
  memory_.release(outer);
  EXPECT_EQ(memory_.pieces(), 0u);
}

// Freed before the window, and given out again by the system at the same address.
TEST_F(Adopted, IsNotWhatComesAfterIt) {
  Pages pages(4);
  pages.word(0) = 1;
  const MemoryRange range = adopt(pages);
  ASSERT_NE(::mmap(pages.data(), pages.bytes() / 2, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  pages.word(0) = 2;
  pages.word(3) = 3;
  EXPECT_FALSE(adopt(pages).location.shared());
  EXPECT_EQ(why_, "the program has freed memory of a window that is left");
  EXPECT_EQ(memory_.pieces(), 1u);
  memory_.release({range.address, range.bytes, {}});  // what has been private is released as such
  memory_.release(range);
  EXPECT_EQ(memory_.pieces(), 0u);
  EXPECT_EQ(pages.word(0), 2u);
  EXPECT_EQ(pages.word(3), 3u);
  const MemoryRange anew = adopt(pages);
  ASSERT_TRUE(anew.wholly_shared()) << why_;
  EXPECT_EQ(peers(anew, 0), 2u);
  ::munmap(pages.data(), pages.bytes());
  memory_.release(anew);
  EXPECT_EQ(memory_.pieces(), 0u);
  EXPECT_TRUE(mappings_in(anew.address, anew.address + anew.bytes).value().empty());
}

// Other shared memory that the program has put there, even more of the arena.
TEST_F(Adopted, IsNotOtherSharedMemory) {
  std::string error;
  std::byte* another = arena_.allocate(page_size(), page_size(), error);
  Pages pages(3);
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.wholly_shared()) << why_;
  Arena other(1 << 26);
  ASSERT_NE(other.allocate(pages.bytes() + range.location.offset, page_size(), error), nullptr);
  const auto put = [](std::byte* page, const Arena& arena, std::uint64_t offset) {
    return ::mmap(page, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                  arena.descriptor(), static_cast<off_t>(offset)) == page;
  };
  ASSERT_TRUE(put(pages.page(0), other, range.location.offset));
  ASSERT_TRUE(put(pages.page(2), arena_, arena_.find(another, 1)->offset));
  memory_.release(range);
  EXPECT_EQ(memory_.pieces(), 0u);
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
  const std::vector<Mapping> left = mappings_in(begin, begin + pages.bytes()).value();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_TRUE(left[0].shared);
  EXPECT_TRUE(left[1].private_memory());
  EXPECT_TRUE(left[2].shared);
}

// The kernel has one mapping for both, where they are neighbours in the arena as well.
TEST_F(Adopted, NeighboursAreTwoPieces) {
  for (const bool second_first : {false, true}) {
    Pages pages(8);
    pages.word(0) = 1;
    pages.word(5) = 2;
    const MemoryRange first = memory_.adopt(pages.data(), pages.bytes() / 2, why_);
    const MemoryRange second = memory_.adopt(pages.page(4), pages.bytes() / 2, why_);
    ASSERT_TRUE(first.wholly_shared() && second.wholly_shared()) << why_;
    EXPECT_EQ(memory_.pieces(), 2u);
    EXPECT_EQ(second.location.offset, first.location.offset + pages.bytes() / 2);
    EXPECT_TRUE(in_child([&] { return pages.word(0) == 1 && pages.word(5) == 2; }));
    memory_.release(second_first ? second : first);
    EXPECT_EQ(memory_.pieces(), 1u);
    pages.word(0) = 3;
    pages.word(5) = 4;
    EXPECT_EQ(second_first ? peers(first, 0) : peers(second, 1), second_first ? 3u : 4u);
    memory_.release(second_first ? first : second);
    EXPECT_EQ(memory_.pieces(), 0u);
    EXPECT_EQ(pages.word(0), 3u);
    EXPECT_EQ(pages.word(3), 0u);
    EXPECT_EQ(pages.word(5), 4u);
    const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
    const std::vector<Mapping> mappings = mappings_in(begin, begin + pages.bytes()).value();
    for (const Mapping& one : mappings) {
      EXPECT_TRUE(one.private_memory());
    }
  }
}

TEST_F(Adopted, OnlyPrivateMemoryIs) {
  const auto refused = [&](void* memory, std::size_t bytes) {
    const MemoryRange range = memory_.adopt(memory, bytes, why_);
    memory_.release(range);
    return range.location.shared() ? "adopted" : why_;
  };
  const std::string not_private = "it is not private memory for data, without a file";
  Pages pages(4);
  std::array<std::byte, 32768> stack;
  EXPECT_EQ(refused(stack.data(), stack.size()), not_private);
  ASSERT_EQ(::mprotect(pages.page(2), page_size(), PROT_READ), 0);
  EXPECT_EQ(refused(pages.data(), pages.bytes()), not_private);
  ::munmap(pages.page(2), page_size());
  EXPECT_EQ(refused(pages.data(), pages.bytes()), "some of it is not mapped");
  ASSERT_NE(::mmap(pages.page(2), page_size(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_EQ(refused(pages.data(), pages.bytes()), not_private);
  std::FILE* file = std::tmpfile();
  ASSERT_EQ(::ftruncate(::fileno(file), 8192), 0);
  void* of_file = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, ::fileno(file), 0);
  EXPECT_EQ(refused(of_file, 8192), not_private);
  ::munmap(of_file, 8192);
  std::fclose(file);
  Pages code(2);
  ASSERT_EQ(::mprotect(code.data(), code.bytes(), PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  EXPECT_EQ(refused(code.data(), code.bytes()), not_private);
  std::string of_thread;
  std::thread([&] {
    pthread_attr_t attributes;
    void* base = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(::pthread_getattr_np(::pthread_self(), &attributes), 0);
    ASSERT_EQ(::pthread_attr_getstack(&attributes, &base, &bytes), 0);
    ::pthread_attr_destroy(&attributes);
    of_thread = refused(base, bytes);
  }).join();
  EXPECT_TRUE(of_thread == not_private || of_thread == "it is the stack of the calling thread")
      << of_thread;
  Pages locked(2);
  // Not mlock(): sanitizers leave that out.
  ASSERT_EQ(::syscall(SYS_mlock, locked.data(), locked.bytes()), 0);
  EXPECT_EQ(refused(locked.data(), locked.bytes()),
            "the process has memory that is locked, or registered with a device");
}

TEST_F(Adopted, WhatPeersReachBySystemCallsStays) {
  Pages pages(4);
  memory_.note_private(pages.page(1) + 8, 8);
  EXPECT_FALSE(adopt(pages).location.shared());
  EXPECT_EQ(why_, "peers already reach it as private memory");
  // That range is used now, too.
  Pages others(4);
  const MemoryRange range = adopt(others);
  memory_.note_private(others.page(2), 100);
  memory_.release(range);
  EXPECT_EQ(memory_.pieces(), 1u) << "it was given back under a store of a peer";
}

// Peers of a window whose ends are private reach these by system calls: another window on them, or
// on more, does not move them.
TEST_F(Adopted, PrivateEndsOfAWindowStay) {
  Pages pages(6);
  std::memset(pages.data(), 1, pages.bytes());
  const MemoryRange window =
      memory_.adopt(pages.page(1) - 8, 2 * page_size() + 16, why_);  // an end in pages 0 and 3 each
  ASSERT_TRUE(window.location.shared()) << why_;
  ASSERT_EQ(window.head, 8u);
  for (const std::size_t page : {0UL, 3UL}) {
    const MemoryRange other = memory_.adopt(pages.page(page), page_size(), why_);
    EXPECT_FALSE(other.location.shared());
    EXPECT_EQ(why_, "peers already reach it as private memory");
    memory_.release(other);
  }
  memory_.release(window);
  for (const std::size_t page : {0UL, 3UL}) {
    const MemoryRange other = memory_.adopt(pages.page(page), page_size(), why_);
    EXPECT_TRUE(other.location.shared()) << why_;
    memory_.release(other);
  }
}

// Where the process can open no file, nobody knows what is left of the memory: it stays shared, and
// its contents are kept, until there is one again.
TEST_F(Adopted, StaysWhereItCannotBeAskedFor) {
  Pages pages(3);
  std::memset(pages.data(), 7, pages.bytes());
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.location.shared()) << why_;
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit none = usual;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  memory_.release(range);
  EXPECT_EQ(memory_.pieces(), 1u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pages.word(i), 0x0707070707070707u);
  Pages another(1);
  memory_.release(adopt(another));  // looks after it
  EXPECT_EQ(memory_.pieces(), 0u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pages.word(i), 0x0707070707070707u);
}

// UCX replaces mremap in every process that loads it: those of Debian's MPICH, and those of Intel
// MPI where a job has several nodes.
TEST_F(Adopted, BecomesPrivateWhereMremapIsReplaced) {
  Pages pages(3);
  for (std::size_t i = 0; i < 3; ++i) pages.word(i) = 10 + i;
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.wholly_shared()) << why_;
  drops_new_address = true;
  EXPECT_TRUE(in_child([&] {
    pages.word(0) = 20;
    return pages.word(1) == 11;
  }));
  EXPECT_EQ(pages.word(0), 10u) << "what the child has stored";
  memory_.release(range);
  drops_new_address = false;
  EXPECT_EQ(memory_.pieces(), 0u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pages.word(i), 10 + i);
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
  const std::vector<Mapping> mappings = mappings_in(begin, begin + pages.bytes()).value();
  ASSERT_EQ(mappings.size(), 1u);
  EXPECT_TRUE(mappings.front().private_memory());
}

TEST_F(Adopted, StoresOfOtherThreadsAreNotLost) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the kernel holds the threads up, which ThreadSanitizer does not see";
#endif
  if (Pages probe(1); !FrozenPages(probe.data(), probe.bytes())) GTEST_SKIP() << "no userfaultfd";
  constexpr std::size_t count = 16;
  Pages pages(count);
  std::atomic<bool> stop = false;
  std::array<std::uint64_t, 2> stored{};
  std::vector<std::thread> threads;
  // One half of the words each; the other ones of a page are added to by a system call.
  for (std::size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::array<int, 2> pipe{};
      ASSERT_EQ(::pipe(pipe.data()), 0);
      for (std::uint64_t n = 1; !stop.load(); ++n) {
        for (std::size_t i = t; i < count; i += 2) {
          auto* words = reinterpret_cast<std::uint64_t*>(pages.page(i));
          pages.word(i) = pages.word(i) + 1;
          const std::uint64_t next = words[1] + 1;
          ASSERT_EQ(::write(pipe[1], &next, sizeof next), 8);
          ASSERT_EQ(::read(pipe[0], &words[1], sizeof next), 8);
        }
        stored[t] = n;
      }
      ::close(pipe[0]);
      ::close(pipe[1]);
    });
  }
  for (int round = 0; round < 300; ++round) {
    const MemoryRange range = adopt(pages);
    ASSERT_TRUE(range.wholly_shared()) << why_;
    std::this_thread::yield();
    memory_.release(range);
    ASSERT_EQ(memory_.pieces(), 0u);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(pages.word(i), stored[i % 2]);
    EXPECT_EQ(reinterpret_cast<std::uint64_t*>(pages.page(i))[1], stored[i % 2]);
  }
}

TEST_F(Adopted, WithThreadsItTakesUserfaultfd) {
  EXPECT_TRUE(in_child([&] {
    // Nobody may open it without privileges.
    if (::geteuid() == 0 &&
        (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)) {
      return false;
    }
    Pages pages(2);
    if (FrozenPages(pages.data(), pages.bytes())) return true;  // the system permits it to all
    Arena arena(1 << 24);
    AdoptedMemory memory(arena, Adoption::always);
    std::atomic<bool> stop = false;
    std::thread other([&] {
      while (!stop.load()) ::usleep(100);
    });
    std::string why;
    const bool shared = memory.adopt(pages.data(), pages.bytes(), why).location.shared();
    stop = true;
    other.join();
    return !shared && why == "several threads run, and the system does not permit userfaultfd";
  }));
}

TEST_F(Adopted, AChildHasItAsItWasAtTheFork) {
  Pages pages(3);
  for (std::size_t i = 0; i < 3; ++i) pages.word(i) = 10 + i;
  const MemoryRange range = adopt(pages);
  ASSERT_TRUE(range.wholly_shared()) << why_;
  std::array<int, 2> to_child{};
  std::array<int, 2> to_parent{};
  ASSERT_EQ(::pipe(to_child.data()) | ::pipe(to_parent.data()), 0);
  char token = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    bool right = pages.word(0) == 10;
    pages.word(0) = 1000;
    right = right && ::write(to_parent[1], &token, 1) == 1 && ::read(to_child[0], &token, 1) == 1;
    // The parent has stored there since; this page is looked at for the first time.
    right = right && pages.word(1) == 11 && pages.word(2) == 12 && pages.word(0) == 1000;
    ::_exit(right ? 0 : 1);
  }
  ASSERT_EQ(::read(to_parent[0], &token, 1), 1);
  EXPECT_EQ(pages.word(0), 10u) << "what the child has stored";
  pages.word(1) = 21;
  peers(range, 2) = 22;
  ASSERT_EQ(::write(to_child[1], &token, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "what the child has seen";
  EXPECT_EQ(pages.word(2), 22u);
  memory_.release(range);
  for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(end);
}

TEST_F(Adopted, AChildMayFreeAndForkAndEnd) {
  Pages pages(3);
  pages.word(1) = 5;
  const MemoryRange range = adopt(pages);
  EXPECT_TRUE(in_child([&] {
    memory_.release(range);
    pages.word(1) = 6;
    const bool again = in_child([&] { return pages.word(1) == 6; });
    return again && memory_.pieces() == 0;
  }));
  EXPECT_EQ(pages.word(1), 5u);
  EXPECT_EQ(memory_.pieces(), 1u);
  // A piece that the program has freed is not copied over what is there now.
  ASSERT_NE(::mmap(pages.data(), pages.bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  pages.word(1) = 8;
  EXPECT_TRUE(in_child([&] { return pages.word(1) == 8; }));
  memory_.release(range);
}

// Threads that fork while others make and free windows.
TEST_F(Adopted, ForksAndMovesTakeTurns) {
  if (Pages probe(1); !FrozenPages(probe.data(), probe.bytes())) GTEST_SKIP() << "no userfaultfd";
  Pages pages(4);
  for (std::size_t i = 0; i < 4; ++i) pages.word(i) = 50 + i;
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        const pid_t child = ::fork();
        if (child == 0) {
          bool right = true;
          for (std::size_t i = 0; i < 4; ++i) right = right && pages.word(i) == 50 + i;
          pages.word(0) = 1;
          ::_exit(right ? 0 : 1);
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child || status != 0) ++wrong;
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    const MemoryRange range = adopt(pages);
    ASSERT_TRUE(range.wholly_shared()) << why_;
    ::usleep(500);
    memory_.release(range);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(pages.word(0), 50u);
}

TEST_F(Adopted, ByItselfOnlyWhereItPays) {
  AdoptedMemory by_itself(arena_, Adoption::automatic);
  AdoptedMemory never(arena_, Adoption::never);
  Pages pages(64);
  std::memset(pages.data(), 1, pages.bytes());
  EXPECT_FALSE(never.adopt(pages.data(), pages.bytes(), why_).location.shared());
  EXPECT_EQ(why_, "ORIEL_ADOPT is never");
  std::uint64_t adopted = 0;
  for (int round = 0; round < 100000; ++round) {
    const MemoryRange range = by_itself.adopt(pages.data(), pages.bytes(), why_);
    if (!range.location.shared()) break;
    adopted += range.bytes;
    by_itself.release(range);
  }
  EXPECT_EQ(why_, "adopting it would take too much of the program's time");
  EXPECT_GE(adopted, pages.bytes()) << "the first window is not too much";
  EXPECT_LT(adopted, std::uint64_t{4} << 30);
}

// Where there is one node pages lie nowhere else, but a thread with a policy of its own cannot say
// where new ones would be.
TEST_F(Adopted, NewPagesLieWhereTheOldOnesAre) {
  std::ifstream nodes("/sys/devices/system/node/has_memory");
  std::string text;
  std::getline(nodes, text);
  if (text != "0") GTEST_SKIP() << "the thread may have moved to another one of " << text;
  Pages pages(3000);  // more than one question to the kernel
  std::memset(pages.data() + 5 * page_size(), 1, 2000 * page_size());
  EXPECT_TRUE(new_pages_lie_where(pages.data(), pages.bytes()));
  std::thread([&] {
    const unsigned long first_node = 1;
    ASSERT_EQ(::syscall(SYS_set_mempolicy, MPOL_BIND, &first_node, 8 * sizeof first_node), 0);
    EXPECT_FALSE(new_pages_lie_where(pages.data(), pages.bytes()));
  }).join();
}

TEST(Adoption, HasThreeNames) {
  EXPECT_EQ(adoption_named("never"), Adoption::never);
  EXPECT_EQ(adoption_named("auto"), Adoption::automatic);
  EXPECT_EQ(adoption_named("always"), Adoption::always);
  EXPECT_EQ(adoption_named("sometimes"), std::nullopt);
}

}  // namespace
}  // namespace oriel::test
