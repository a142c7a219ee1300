// SPDX-License-Identifier: BSD-3-Clause
// S2: the reduce-scatter of a closing fence, for any number of ranks and any order of arrival.
#include "core/remote/fence_count.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

#include "support/random.hpp"

namespace oriel::test {
namespace {

struct SentCounts {
  std::uint64_t call;
  int from;
  unsigned number;
  std::vector<std::uint32_t> counts;
};

/// All ranks of a window, and what is on its way between them.
class Everybody {
 public:
  explicit Everybody(int ranks) : under_way_(at(ranks) * at(ranks)), ranks_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) counts_.emplace_back(rank, ranks);
  }

  FenceCount& of(int rank) { return counts_[at(rank)]; }
  void advance(int rank) {
    of(rank).advance([&](const FenceCount::Step& step) {
      ++steps_;
      under_way_[at(rank) * at(ranks_) + at(step.target)].push_back(
          {of(rank).call(), rank, step.number, {step.counts.begin(), step.counts.end()}});
    });
  }
  /// Lets the oldest message of some pair arrive.
  void arrive(Random& random) {
    const std::size_t first = at(random.below(static_cast<int>(under_way_.size())));
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
      const std::size_t pair = (first + i) % under_way_.size();
      if (under_way_[pair].empty()) continue;
      const SentCounts sent = under_way_[pair].front();
      under_way_[pair].pop_front();
      const int to = static_cast<int>(pair % at(ranks_));
      ASSERT_TRUE(of(to).arrived(sent.call, sent.from, sent.number, 0, true, sent.counts));
      // The same step cannot come twice.
      EXPECT_FALSE(of(to).arrived(sent.call, sent.from, sent.number, 0, true, sent.counts));
      return;
    }
  }
  std::uint64_t steps() const { return steps_; }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::vector<FenceCount> counts_;
  std::vector<std::deque<SentCounts>> under_way_;  // from * ranks + to
  int ranks_;
  std::uint64_t steps_ = 0;
};

// Every rank ends a call exactly when all have entered it and the marks for it are there; ranks run
// ahead of one another as far as that lets them.
TEST(FenceCount, EndsWhenAllHaveEnteredAndAllMarksAreHere) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int ranks = random.between(1, 13);
    constexpr std::uint64_t calls = 4;
    Everybody all(ranks);
    std::vector<std::uint64_t> entered(static_cast<std::size_t>(ranks), 0);
    std::vector<std::uint64_t> left(static_cast<std::size_t>(ranks), 0);
    // marks[call][rank]: how many origins have sent it operations, and how many marks have come.
    std::vector<std::vector<int>> due(calls + 1, std::vector<int>(static_cast<std::size_t>(ranks)));
    auto here = due;
    std::vector<std::pair<std::uint64_t, int>> marks;
    const auto finished = [&] {
      for (const std::uint64_t calls_left : left) {
        if (calls_left < calls) return false;
      }
      return true;
    };
    int moves = 0;
    while (!finished()) {
      ASSERT_LT(++moves, 200'000) << "nobody gets on";
      const int rank = random.below(ranks);
      const auto at = static_cast<std::size_t>(rank);
      if (entered[at] == left[at] && entered[at] < calls && random.chance(30)) {
        ++entered[at];
        for (int target = 0; target < ranks; ++target) {
          if (target == rank || !random.chance(40)) continue;
          all.of(rank).add(target);
          ++due[entered[at]][static_cast<std::size_t>(target)];
          marks.emplace_back(entered[at], target);
        }
        EXPECT_EQ(all.of(rank).enter(), entered[at]);
      }
      if (!marks.empty() && random.chance(30)) {
        const auto which = static_cast<std::size_t>(random.below(static_cast<int>(marks.size())));
        const auto [call, target] = marks[which];
        marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(which));
        ++here[call][static_cast<std::size_t>(target)];
        ASSERT_TRUE(all.of(target).marked(call));
      }
      if (random.chance(60)) all.arrive(random);
      all.advance(rank);
      if (entered[at] > left[at] && all.of(rank).over()) {
        const std::uint64_t call = ++left[at];
        for (const std::uint64_t other : entered) ASSERT_GE(other, call);
        ASSERT_EQ(here[call][at], due[call][at]);
        all.of(rank).end();
      }
    }
    // ceil(log2 n) messages of each rank in each call.
    const auto steps = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    EXPECT_EQ(all.steps(), steps * calls * static_cast<std::uint64_t>(ranks));
  }
}

TEST(FenceCount, RefusesWhatCannotBe) {
  FenceCount count(0, 5);
  const std::vector<std::uint32_t> two(2, 1);
  const std::vector<std::uint32_t> one(1, 1);
  EXPECT_TRUE(count.arrived(1, 3, 1, 0, true, two));    // distance 2: from rank 3
  EXPECT_FALSE(count.arrived(1, 3, 1, 0, true, two));   // again
  EXPECT_FALSE(count.arrived(1, 2, 1, 0, true, two));   // of no such step
  EXPECT_FALSE(count.arrived(1, 4, 0, 0, true, two));   // too many
  EXPECT_FALSE(count.arrived(1, 4, 0, 0, false, one));  // not the last, and yet all
  EXPECT_FALSE(count.arrived(1, 1, 2, 1, true, one));   // behind the end
  EXPECT_FALSE(count.arrived(3, 4, 0, 0, true, one));   // nobody can be in that call
  EXPECT_FALSE(count.arrived(0, 4, 0, 0, true, one));
  EXPECT_FALSE(count.arrived(1, 4, 9, 0, true, one));
  EXPECT_FALSE(count.marked(0));
  EXPECT_FALSE(count.marked(3));
  EXPECT_TRUE(count.arrived(2, 4, 0, 0, true, one));  // a rank that is ahead
}

}  // namespace
}  // namespace oriel::test
