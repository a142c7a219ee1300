// SPDX-License-Identifier: BSD-3-Clause
// Random programs on simulated ranks, one step at a time, against a plain model (E1 to E12, S1, S3,
// S4). ORIEL_SEED=n replays a seed that failed, ORIEL_SEEDS=n runs so many.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/jobs.hpp"
#include "support/program.hpp"
#include "support/random.hpp"
#include "support/scheduler.hpp"

namespace oriel::test {
namespace {

struct Case {
  const char* name;
  Placement placement;
  bool reorder;
};

class RandomPrograms : public ::testing::TestWithParam<Case> {};

TEST_P(RandomPrograms, DoWhatTheModelSays) {
  const Seeds seeds = Seeds::from_environment(120);
  std::uint64_t lent = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    RandomJob random(seed, GetParam().placement, GetParam().reorder, false);
    Scheduler scheduler(random.job(), random.program(), seed);
    const std::string wrong = scheduler.run();
    ASSERT_EQ(wrong, "") << "replay with ORIEL_SEED=" << seed << "; " << random.description();
    EXPECT_EQ(random.job().network().lent(), 0U) << "seed " << seed;
    lent += random.job().network().lendings();
  }
  // By rendezvous some of them go.
  const bool some = GetParam().placement == Placement::dynamic && seeds.count > 100;
  EXPECT_TRUE(lent != 0 || !some);
}

INSTANTIATE_TEST_SUITE_P(Placements, RandomPrograms,
                         ::testing::Values(Case{"Mapped", Placement::mapped, false},
                                           Case{"MappedReordered", Placement::mapped, true},
                                           Case{"Remote", Placement::remote, false},
                                           Case{"RemoteReordered", Placement::remote, true},
                                           Case{"Mixed", Placement::mixed, false},
                                           Case{"MixedReordered", Placement::mixed, true},
                                           Case{"Private", Placement::private_memory, false},
                                           Case{"PrivateReordered", Placement::private_memory,
                                                true},
                                           Case{"Dynamic", Placement::dynamic, false},
                                           Case{"DynamicReordered", Placement::dynamic, true}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace oriel::test
