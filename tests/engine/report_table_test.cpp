// SPDX-License-Identifier: BSD-3-Clause
// B1: the table of the waits is printed by one rank, whatever other users do to its folder.
#include "engine/record/report_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace oriel {
namespace {

/// A folder with no records: the command says so.
class ReportTable : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "oriel-table-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::alarm(100);  // longer than a rank waits for its turn
  }
  void TearDown() override {
    ::alarm(0);
    std::filesystem::remove_all(folder_);
  }

  std::string file() const { return folder_ + "/table"; }
  /// The text that the test prints on standard error.
  std::string print() const {
    testing::internal::CaptureStderr();
    print_report_table(folder_);
    return testing::internal::GetCapturedStderr();
  }

  std::string folder_;
};

TEST_F(ReportTable, IsPrintedOnce) {
  EXPECT_NE(print(), "");
  EXPECT_EQ(print(), "");
}

// Any process that may open the file may lock it.
TEST_F(ReportTable, IsNoFileThatOthersCanOpen) {
  const mode_t before = ::umask(0);
  print();
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// The folder may be of a run before, or one that another user has made.
TEST_F(ReportTable, DoesNotWaitForAnotherUsersLock) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const int locked = ::open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(locked, 0);
  constexpr uid_t other = 65534;
  ASSERT_EQ(::fchown(locked, other, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::fchmod(locked, 0666), 0);
  ASSERT_EQ(::flock(locked, LOCK_EX | LOCK_NB), 0);
  EXPECT_NE(print(), "") << "it has waited for the lock, and printed nothing";
  std::array<char, 8> text{};
  EXPECT_EQ(::pread(locked, text.data(), text.size(), 0), 0) << "the file is not ours";
  ::close(locked);
}

}  // namespace
}  // namespace oriel
