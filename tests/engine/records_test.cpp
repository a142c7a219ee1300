// SPDX-License-Identifier: BSD-3-Clause
// The records of an engine in the child of a fork.
#include "engine/record/records.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "shm_processes.hpp"
#include "support/sim_ranks.hpp"

namespace oriel::test {
namespace {

class RecordsTest : public shm_test::ShmTest {};

TEST_F(RecordsTest, TheChildOfAForkWritesNoStatistics) {
  std::string folder = testing::TempDir() + "oriel-statistics.XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const shm_test::Environment run("ORIEL_LOAD_REPORT", folder.c_str());
  const shm_test::Environment info("ORIEL_INFO", "1");
  const auto files = [&] {
    const std::filesystem::directory_iterator all(folder);
    return std::distance(begin(all), end(all));
  };
  {
    SimGroup group(1);
    SimRank rank(group, 0);
    rank.engine.records.start(rank.engine, [] { return WorldRank(); });
    const pid_t child = ::fork();
    if (child == 0) {
      rank.engine.disown();
      rank.engine.records.stop(rank.engine);
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(files(), 0);
    rank.engine.records.stop(rank.engine);
    EXPECT_EQ(files(), 1);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace oriel::test
