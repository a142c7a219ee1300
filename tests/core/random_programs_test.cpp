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

struct ProgramCase {
  const char* name;
  Placement placement;
  bool reorder;
};

class RandomPrograms : public ::testing::TestWithParam<ProgramCase> {};

TEST_P(RandomPrograms, DoWhatTheModelSays) {
  const Seeds seeds = Seeds::from_environment(120);
  std::uint64_t registered = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    RandomJob random(seed, GetParam().placement, GetParam().reorder, false);
    Scheduler scheduler(random.job(), random.program(), seed);
    const std::string wrong = scheduler.run();
    ASSERT_EQ(wrong, "") << "replay with ORIEL_SEED=" << seed << "; " << random.description();
    EXPECT_EQ(random.job().network().registered(), 0U) << "seed " << seed;
    registered += random.job().network().registrations_made();
  }
  // By rendezvous some of them go.
  const bool some = GetParam().placement == Placement::dynamic && seeds.count > 100;
  EXPECT_TRUE(registered != 0 || !some);
}

INSTANTIATE_TEST_SUITE_P(
    Placements, RandomPrograms,
    ::testing::Values(ProgramCase{"Mapped", Placement::mapped, false},
                      ProgramCase{"MappedReordered", Placement::mapped, true},
                      ProgramCase{"Remote", Placement::remote, false},
                      ProgramCase{"RemoteReordered", Placement::remote, true},
                      ProgramCase{"Mixed", Placement::mixed, false},
                      ProgramCase{"MixedReordered", Placement::mixed, true},
                      ProgramCase{"Private", Placement::private_memory, false},
                      ProgramCase{"PrivateReordered", Placement::private_memory, true},
                      ProgramCase{"Dynamic", Placement::dynamic, false},
                      ProgramCase{"DynamicReordered", Placement::dynamic, true}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace oriel::test
