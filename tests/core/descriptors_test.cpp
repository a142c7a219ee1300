// SPDX-License-Identifier: BSD-3-Clause
// G1: descriptors of Oriel's own keep away from the numbers that programs use.
#include "transport/shm/descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "shm_processes.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/shm/arena.hpp"

namespace oriel {
namespace {

using shm_test::Child;

bool open_here(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

/// Carries out the body in a process without standard descriptors; 0: it has returned true.
template <typename Body>
int without_standard_descriptors(Body&& body) {
  return Child([&] {
           for (int i = 0; i <= STDERR_FILENO; ++i) ::close(i);
           return body() ? 0 : 1;
         })
      .join();
}

void limit_descriptors(rlim_t most) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = most;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(Descriptors, LieAboveThoseOfThePrograms) {
  EXPECT_EQ(without_standard_descriptors([] {
              const int low = ::open("/dev/null", O_RDWR | O_CLOEXEC);
              const int own = own_descriptor(low);
              return low == 0 && own >= 10 && !open_here(low) &&
                     ::fcntl(own, F_GETFD) == FD_CLOEXEC;
            }),
            0);
}

TEST(Descriptors, AreLeftWhereTheyAreIfThatIsHighEnough) {
  const int high = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  EXPECT_EQ(own_descriptor(high), high);
  EXPECT_TRUE(open_here(high));
  ::close(high);
}

TEST(Descriptors, PassOnThatNoneWasOpened) {
  errno = ENOENT;
  EXPECT_EQ(own_descriptor(-1), -1);
  EXPECT_EQ(errno, ENOENT);
}

// A program whose limit is lower than the numbers that Oriel prefers runs as well.
TEST(Descriptors, ManageWithALowLimit) {
  EXPECT_EQ(Child([] {
              for (int i = 3; i < 10; ++i) ::close(i);
              limit_descriptors(5);
              const int opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
              return opened == 3 && own_descriptor(opened) == 3 && open_here(3) ? 0 : 1;
            }).join(),
            0);
  EXPECT_EQ(without_standard_descriptors([] {
              limit_descriptors(5);
              const int opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
              return opened == 0 && own_descriptor(opened) == -1 && errno == EMFILE &&
                     !open_here(0);
            }),
            0);
}

TEST(Descriptors, OfPipesLieThereToo) {
  EXPECT_EQ(without_standard_descriptors([] {
              std::array<int, 2> ends{-1, -1};
              char got = 0;
              return own_pipe(ends) && ends[0] >= 10 && ends[1] >= 10 && !open_here(0) &&
                     !open_here(1) && ::write(ends[1], "x", 1) == 1 &&
                     ::read(ends[0], &got, 1) == 1 && got == 'x';
            }),
            0);
  EXPECT_EQ(without_standard_descriptors([] {
              limit_descriptors(3);
              std::array<int, 2> ends{-1, -1};
              return !own_pipe(ends) && errno == EMFILE && ends[0] == -1 && !open_here(0) &&
                     !open_here(1);
            }),
            0);
  EXPECT_EQ(without_standard_descriptors([] {
              constexpr int only_one = 10;
              ::close(only_one);
              limit_descriptors(only_one + 1);
              std::array<int, 2> ends{-1, -1};
              return !own_pipe(ends) && errno == EMFILE && !open_here(0) && !open_here(1) &&
                     !open_here(only_one);
            }),
            0);
}

// What a program prints to descriptors that it has closed is no memory of a window.
TEST(Descriptors, OfArenasAreNotPrintedTo) {
  for (const char* memfd : {"1", "0"}) {
    const shm_test::Environment kind("ORIEL_MEMFD", memfd);
    EXPECT_EQ(without_standard_descriptors([] {
                constexpr std::size_t bytes = std::size_t{1} << 20;
                Arena arena(std::uint64_t{1} << 24);
                std::string error;
                const std::byte* piece = arena.allocate(bytes, 64, error);
                if (piece == nullptr || arena.name().fd < 10) return false;
                const std::string line(4096, 'x');
                for (std::size_t written = 0; written < 2 * bytes; written += line.size()) {
                  for (const int output : {1, 2}) {
                    if (::write(output, line.data(), line.size()) >= 0) return false;
                  }
                }
                for (std::size_t i = 0; i < bytes; ++i) {
                  if (piece[i] != std::byte{0}) return false;
                }
                return true;
              }),
              0)
        << "ORIEL_MEMFD=" << memfd;
  }
}

// A connection opened later by a library would be written to by whatever the program prints.
TEST(Descriptors, OfLibrariesLieAboveTheStandardOnes) {
  EXPECT_EQ(without_standard_descriptors([] {
              occupy_standard_descriptors();
              for (int i = 0; i <= STDERR_FILENO; ++i) {
                char byte = 0;
                if (!open_here(i) || ::write(i, "x", 1) != -1 || errno != EBADF) return false;
                if (::read(i, &byte, 1) != -1 || errno != EBADF) return false;
              }
              const int next = ::open("/dev/null", O_RDWR | O_CLOEXEC);
              ::close(STDOUT_FILENO);  // a program that replaces its output
              const int output = ::open("/dev/null", O_RDWR | O_CLOEXEC);
              return next > STDERR_FILENO && output == STDOUT_FILENO;
            }),
            0);
}

TEST(Descriptors, OfTheProgramAreLeftAlone) {
  struct stat before{};
  struct stat after{};
  ASSERT_EQ(::fstat(STDERR_FILENO, &before), 0);
  occupy_standard_descriptors();
  ASSERT_EQ(::fstat(STDERR_FILENO, &after), 0);
  EXPECT_EQ(before.st_dev, after.st_dev);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST(Descriptors, OfLibfabricLieAboveTheStandardOnes) {
  // Its descriptors are opened once in a process, so this one does not load it.
  std::string error;
  const auto load = [&] { return Libfabric::load(error) != nullptr; };
  if (Child([&] { return load() ? 0 : 1; }).join() != 0) GTEST_SKIP() << "no libfabric";
  EXPECT_EQ(without_standard_descriptors(
                [&] { return load() && open_here(0) && open_here(1) && open_here(2); }),
            0);
}

}  // namespace
}  // namespace oriel
