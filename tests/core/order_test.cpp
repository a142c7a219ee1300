// SPDX-License-Identifier: BSD-3-Clause
// Ordered operations (Q2): none takes place at its target before those issued earlier, whichever
// way each would go.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr int words_put = 64;
constexpr std::size_t puts = 40;

/// An ordered put of so many words, all of the same value.
Operation ordered_put(std::vector<std::uint64_t>& values, std::uint64_t value, std::size_t count) {
  values.assign(count, value);
  Operation operation = on_word(OperationKind::put, values.data(), 1);
  operation.target_count = operation.origin.count = count;
  operation.ordered = true;
  return operation;
}

/// Puts of few words and of many, which would go as direct transfers; what each rank does next, and
/// what arrives next, is the seed's choice.
void play(std::uint64_t seed, const SimNetwork::Writes& writes) {
  Random random(seed);
  Limits limits;
  if (random.chance(50)) limits.set_by_card(true);
  limits.direct = 16;
  limits.direct_run = 8;
  limits.fragment = 24;
  SimJob job({0, 1}, false, limits);
  job.network().set_writes(writes);
  SimWindowSpec spec;
  spec.bytes = 8 * words_put;
  spec.direct = true;
  job.create_window(spec);
  Window& window = job.window(0);
  ASSERT_EQ(window.lock_all({}), Error::none);
  std::vector<std::vector<std::uint64_t>> values(puts + 1);
  std::array<std::size_t, puts + 1> counts{};
  std::uint64_t issued = 0;
  const auto seen = [&](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, job.memory(1) + 8 * i, sizeof value);
    return value;
  };
  for (int step = 0; step < 20'000 && seen(0) != puts; ++step) {
    if (issued < puts && random.chance(20)) {
      ++issued;
      counts[issued] =
          static_cast<std::size_t>(random.chance(50) ? 1 : random.between(3, words_put));
      issue(window, ordered_put(values[issued], issued, counts[issued]));
    } else if (const auto routes = job.network().under_way(); !routes.empty()) {
      job.network().deliver(random.pick(routes));
    }
    job.process(0).sweep();
    job.process(1).sweep();
    // Of the puts before the one that the first word shows, each word has the last that reaches it.
    for (std::size_t i = 1; i < words_put; ++i) {
      std::uint64_t least = 0;
      for (std::uint64_t value = 1; value < seen(0); ++value) {
        if (counts[value] > i) least = value;
      }
      ASSERT_GE(seen(i), least) << "seed " << seed << ", word " << i << ", after put " << seen(0);
    }
  }
  EXPECT_EQ(seen(0), puts);
}

TEST(Ordered, PutsDoNotOvertakeOneAnother) {
  const Seeds seeds = Seeds::from_environment(60);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    for (const SimNetwork::Writes& writes : SimNetwork::all_writes) {
      play(seed, writes);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace oriel::test
