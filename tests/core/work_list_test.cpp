// SPDX-License-Identifier: BSD-3-Clause
// What a sweep looks at: the windows that have work, and no others.
#include "core/base/work_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

struct Worker : WorkList<Worker>::Listed {
  int name = 0;
};

class WorkLists : public ::testing::Test {
 protected:
  WorkLists() {
    for (int i = 0; i < 4; ++i) worker(i).name = i;
  }
  Worker& worker(int name) { return workers_[static_cast<std::size_t>(name)]; }
  template <typename Visit>
  std::vector<int> seen(Visit&& visit) {
    std::vector<int> names;
    list_.walk([&](Worker& one) {
      names.push_back(one.name);
      visit(one);
    });
    return names;
  }
  std::vector<int> seen() {
    return seen([](Worker&) {});
  }

  std::array<Worker, 4> workers_;
  WorkList<Worker> list_;
};

TEST_F(WorkLists, TakesMembersOutAnywhere) {
  for (const int out : {0, 1, 2}) {
    for (const int in : {0, 1, 2}) list_.add(worker(in));
    list_.remove(worker(out));
    EXPECT_EQ(list_.size(), 2u);
    std::vector<int> left = {2, 1, 0};
    std::erase(left, out);
    EXPECT_EQ(seen(), left);
    for (const int in : left) list_.remove(worker(in));
    EXPECT_TRUE(list_.empty());
    EXPECT_TRUE(seen().empty());
  }
}

// As windows do while a sweep looks at one of them: it and its neighbours leave, others come.
TEST_F(WorkLists, MembersComeAndGoWhileTheyAreLookedAt) {
  for (const int in : {0, 1, 2}) list_.add(worker(in));
  const auto leaves = [&](Worker& one) {
    if (one.name != 2) return;
    list_.remove(worker(2));
    list_.remove(worker(1));
    list_.add(worker(3));
    list_.add(worker(2));
  };
  EXPECT_EQ(seen(leaves), (std::vector{2, 0}));
  EXPECT_EQ(seen(), (std::vector{2, 3, 0}));
  EXPECT_EQ(seen([&](Worker& one) { list_.remove(one); }), (std::vector{2, 3, 0}));
  EXPECT_TRUE(list_.empty());
}

// A thousand idle windows, some with an open epoch, cost a sweep nothing.
TEST(WorkOfWindows, IdleWindowsAreNotLookedAt) {
  SimJob job({0, 0});
  SimWindowSpec spec;
  spec.bytes = sizeof(std::uint64_t);
  for (int i = 0; i < 1000; ++i) job.create_window(spec);
  for (int i = 0; i < 1000; i += 2) {
    for (const int rank : {0, 1}) {
      ASSERT_TRUE(job.window(rank, i).epochs().fence(no_precede(), true, nullptr).done);
    }
  }
  EXPECT_EQ(job.process(0).pending(), 0u);
  // Any number of things to do on two windows.
  const std::uint64_t value = 7;
  std::vector<PostedCall> posted(3);
  for (const int window : {3, 501}) {
    const int origins[] = {1};
    ASSERT_EQ(job.window(0, window).epochs().post(origins, {}), Error::none);
    PostedCall& waited = posted[window == 3 ? 0 : 1];
    waited.take(job.window(0, window).epochs().wait(&waited));
  }
  ASSERT_EQ(job.window(0, 3).epochs().start(std::array{1}, {}), Error::none);
  for (int i = 0; i < 5; ++i) issue(job.window(0, 3), on_word(OperationKind::put, &value, 1));
  posted[2].take(job.window(0, 3).epochs().complete(&posted[2]));
  EXPECT_EQ(job.process(0).pending(), 2u);

  for (const int window : {3, 501}) {
    ASSERT_EQ(job.window(1, window).epochs().start(std::array{0}, {}), Error::none);
    EXPECT_TRUE(job.window(1, window).epochs().complete(nullptr).done);
  }
  ASSERT_EQ(job.window(1, 3).epochs().post(std::array{0}, {}), Error::none);
  PostedCall exposed;
  exposed.take(job.window(1, 3).epochs().wait(&exposed));
  job.run_until_idle();
  for (const PostedCall& one : posted) EXPECT_TRUE(one.done());
  EXPECT_TRUE(exposed.done());
  EXPECT_EQ(job.process(0).pending(), 0u);
}

}  // namespace
}  // namespace oriel::test
