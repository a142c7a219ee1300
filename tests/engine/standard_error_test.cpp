// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/standard_error.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

namespace oriel {
namespace {

constexpr const char* words = "A rank waits.\n";

void make_standard_error_a_pipe_without_reader() {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(StandardErrorDeathTest, ItIsWrittenTo) {
  EXPECT_EXIT(
      {
        StandardError().say(words);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), words);
}

TEST(StandardErrorDeathTest, NobodyReadsIt) {
  EXPECT_EXIT(
      {
        make_standard_error_a_pipe_without_reader();
        StandardError().say(words);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// A signal that the program has sent itself, and blocks, is not taken from it.
TEST(StandardErrorDeathTest, TheProgramsOwnSignalRemains) {
  EXPECT_EXIT(
      {
        make_standard_error_a_pipe_without_reader();
        sigset_t pipe;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        ::sigprocmask(SIG_BLOCK, &pipe, nullptr);
        ::raise(SIGPIPE);
        StandardError().say(words);
        ::sigpending(&pipe);
        ::_exit(::sigismember(&pipe, SIGPIPE) != 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StandardErrorDeathTest, AnotherFileInItsPlaceIsLeftAlone) {
  EXPECT_EXIT(
      {
        const StandardError before;
        std::FILE* const data = std::tmpfile();
        ::dup2(::fileno(data), STDERR_FILENO);
        before.say(words);
        struct stat file{};
        ::fstat(::fileno(data), &file);
        ::_exit(file.st_size == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace oriel
