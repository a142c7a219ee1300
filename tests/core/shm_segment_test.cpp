// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "shm_processes.hpp"

namespace oriel {
namespace {

using shm_test::Child;
using shm_test::Environment;
using shm_test::Pipe;

/// Both kinds of segments, by the value of ORIEL_MEMFD.
class ShmSegment : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { ::alarm(120); }
  void TearDown() override { ::alarm(0); }
  Environment kind_{"ORIEL_MEMFD", GetParam()};
  std::string error_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, ShmSegment, ::testing::Values("1", "0"));

/// What the kernel calls the file: a name that is gone ends in "(deleted)".
std::string file_of(const SegmentName& name) {
  char text[256];
  const std::string link = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(name.fd);
  const ssize_t length = ::readlink(link.c_str(), text, sizeof text);
  return length < 0 ? "" : std::string(text, static_cast<std::size_t>(length));
}

std::size_t resident_pages(const Segment& segment) {
  std::vector<unsigned char> map(segment.bytes() / 4096);
  EXPECT_EQ(::mincore(segment.data(), segment.bytes(), map.data()), 0);
  std::size_t resident = 0;
  for (const unsigned char page : map) resident += page & 1;
  return resident;
}

// What one process writes another one reads, in both directions, and the memory begins zeroed.
TEST_P(ShmSegment, IsSharedByProcesses) {
  Segment mine = Segment::create(10000, error_);
  ASSERT_TRUE(mine) << error_;
  EXPECT_GE(mine.bytes(), 10000u);
  Pipe go;
  Child child([&, name = mine.name()] {
    std::string error;
    const Segment theirs = Segment::open(name, error);
    if (!theirs || theirs.data()[9999] != std::byte{0}) return 1;
    go.get<int>();
    if (theirs.data()[0] != std::byte{42}) return 2;
    theirs.data()[9999] = std::byte{43};
    return 0;
  });
  mine.data()[0] = std::byte{42};
  go.put(1);
  EXPECT_EQ(child.join(), 0);
  EXPECT_EQ(mine.data()[9999], std::byte{43});
}

// Nobody but the user may open a segment, and it has no name that could stay behind.
TEST_P(ShmSegment, IsPrivateAndNameless) {
  const Segment segment = Segment::create(4096, error_);
  ASSERT_TRUE(segment) << error_;
  struct stat status{};
  ASSERT_EQ(::fstat(segment.name().fd, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_NE(::fcntl(segment.name().fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_TRUE(file_of(segment.name()).ends_with(" (deleted)")) << file_of(segment.name());
}

// A creator that is killed leaves nothing behind; who has mapped the memory keeps it.
TEST_P(ShmSegment, OutlivesItsKilledCreatorOnlyWhereMapped) {
  Pipe names;
  Child creator([&] {
    std::string error;
    const Segment segment = Segment::create(4096, error);
    segment.data()[5] = std::byte{7};
    names.put(segment.name());
    ::pause();
    return 0;
  });
  const auto name = names.get<SegmentName>();
  const Segment mapped = Segment::open(name, error_);
  ASSERT_TRUE(mapped) << error_;
  creator.kill();
  EXPECT_EQ(creator.join(), -SIGKILL);
  EXPECT_EQ(mapped.data()[5], std::byte{7});
  EXPECT_FALSE(Segment::open(name, error_));
  EXPECT_NE(error_.find(std::to_string(name.pid)), std::string::npos) << error_;
}

// A descriptor that has become something else is noticed before anything is mapped.
TEST_P(ShmSegment, NoticesAnotherFileBehindTheName) {
  const Segment segment = Segment::create(4096, error_);
  ASSERT_TRUE(segment) << error_;
  const Segment other = Segment::create(4096, error_);
  SegmentName name = segment.name();
  name.fd = other.name().fd;
  EXPECT_FALSE(Segment::open(name, error_));
  EXPECT_NE(error_.find("not what it announced"), std::string::npos) << error_;
  name = segment.name();
  name.bytes *= 2;
  EXPECT_FALSE(Segment::open(name, error_));
}

// A size that nobody has is refused with a sentence, not with a crash.
TEST_P(ShmSegment, RefusesTheImpossible) {
  EXPECT_FALSE(Segment::create(~std::size_t{0}, error_));
  EXPECT_NE(error_.find("Cannot create"), std::string::npos) << error_;
  error_.clear();
  EXPECT_FALSE(Segment::create(std::size_t{1} << 62, error_));
  EXPECT_FALSE(error_.empty());
}

// Moving hands the mapping over; no bytes at all are still an address of one's own.
TEST_P(ShmSegment, MovesAndTakesZeroBytes) {
  Segment first = Segment::create(0, error_);
  ASSERT_TRUE(first) << error_;
  std::byte* data = first.data();
  Segment second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.data(), data);
  data[0] = std::byte{1};
}

// Pages that nobody touches take no memory: control blocks count on it.
TEST(ShmSegmentMemory, UntouchedPagesStayUntouched) {
  std::string error;
  const Segment segment = Segment::create(1 << 26, error);
  ASSERT_TRUE(segment) << error;
  segment.data()[1 << 20] = std::byte{1};
  EXPECT_LE(resident_pages(segment), 512u);  // one page, or one huge page
}

}  // namespace
}  // namespace oriel
