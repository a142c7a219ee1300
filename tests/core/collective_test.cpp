// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives of simulated ranks (C1, C4): whatever the pattern, and in whatever order
// things happen, each use brings each receiver the bytes of that use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/collective/plan_registry.hpp"
#include "support/plan_players.hpp"
#include "support/plans.hpp"
#include "support/players.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

/// All ways of a transfer are tried of more sizes, up to 21 words; whole messages have cells up to
/// 20.
Limits limits_with_trials() {
  Limits limits = limits_of_plans();
  limits.staged = 168;
  return limits;
}

/// One message of a pattern; both sides may have gaps.
struct Passage {
  int from = 0;
  int to = 0;
  std::uint64_t sent = 0;  // words of eight bytes
  std::uint64_t space = 0;
  bool gaps_there = false;
  bool gaps_here = false;
};

LayoutRef words(bool gaps) {
  static const LayoutRef dense(new Layout({{0, 8}}, 8, Basic::u64));
  static const LayoutRef gappy(new Layout({{8, 4}, {16, 4}}, 24, Basic::u64));
  return gaps ? gappy : dense;
}

std::uint64_t span_of(std::uint64_t count, bool gaps) {
  return count * (gaps ? 3 : 1);
}

std::uint8_t content(int pattern, int passage, std::uint64_t use, std::uint64_t byte) {
  const std::uint64_t mixed = (std::uint64_t(pattern) * 31 + std::uint64_t(passage)) * 131 +
                              use * 17 + byte * 7 + (byte >> 8) + 1;
  return static_cast<std::uint8_t>(mixed | 1);
}

/// What one rank does in one plan, use after use.
class Part {
 public:
  Part(const std::vector<Passage>& pattern, int number, int rank) : pattern_(number) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const Passage& passage = pattern[i];
      if (passage.from == rank) {
        Side& side =
            sends_.emplace_back(make(passage.sent, passage.gaps_here, static_cast<int>(i)));
        if (passage.to != rank) schedule_.sends.push_back({passage.to, side.buffer, 0});
      }
      if (passage.to == rank) {
        Side& side =
            receives_.emplace_back(make(passage.space, passage.gaps_there, static_cast<int>(i)));
        side.expected = passage.sent;
        if (passage.from != rank) {
          schedule_.receives.push_back({passage.from, side.buffer, 0});
        }
      }
    }
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i].from != rank || pattern[i].to != rank) continue;
      schedule_.copies.push_back({find(sends_, i).buffer, find(receives_, i).buffer, 0});
    }
  }

  const Schedule& schedule() const { return schedule_; }

  void fill(std::uint64_t use) {
    for (Side& side : sends_) {
      each_byte(side, side.buffer.count, [&](std::byte& byte, std::uint64_t number) {
        byte = std::byte{content(pattern_, side.passage, use, number)};
      });
    }
    for (Side& side : receives_) std::ranges::fill(*side.memory, std::byte{0});
  }
  /// Whether all of it has come, and nothing else.
  bool check(std::uint64_t use) {
    std::string wrong;
    for (Side& side : receives_) {
      each_byte(side, side.expected, [&](std::byte& byte, std::uint64_t number) {
        if (byte != std::byte{content(pattern_, side.passage, use, number)} && wrong.empty()) {
          wrong = "passage " + std::to_string(side.passage) + ", byte " + std::to_string(number);
        }
        byte = std::byte{0};
      });
      const auto dirty =
          std::ranges::count_if(*side.memory, [](std::byte b) { return b != std::byte{0}; });
      if (dirty != 0 && wrong.empty()) wrong = "bytes that nobody has sent";
    }
    EXPECT_EQ(wrong, "");
    return wrong.empty();
  }
  /// The program may do so as soon as its rank's part of the use is over.
  void spoil() {
    for (Side& side : sends_) std::ranges::fill(*side.memory, std::byte{0xee});
  }

 private:
  struct Side {
    std::unique_ptr<std::vector<std::byte>> memory;
    Buffer buffer;
    int passage = 0;
    std::uint64_t expected = 0;
  };

  static Side make(std::uint64_t count, bool gaps, int passage) {
    Side side;
    side.memory = std::make_unique<std::vector<std::byte>>(span_of(count, gaps) * 8);
    side.buffer = {side.memory->data(), count, words(gaps)};
    side.passage = passage;
    return side;
  }
  static Side& find(std::vector<Side>& sides, std::size_t passage) {
    return *std::ranges::find(sides, static_cast<int>(passage), &Side::passage);
  }
  template <typename Visit>
  static void each_byte(Side& side, std::uint64_t count, Visit&& visit) {
    std::uint64_t number = 0;
    for (BlockCursor cursor(*side.buffer.layout, count); !cursor.finished();) {
      const std::uint64_t run = cursor.run();
      for (std::uint64_t i = 0; i < run; ++i) {
        visit((*side.memory)[static_cast<std::size_t>(cursor.offset()) + i], number++);
      }
      cursor.advance(run);
    }
  }

  int pattern_;
  Schedule schedule_;
  std::vector<Side> sends_;
  std::vector<Side> receives_;
};

/// A message from each rank to each, or two.
class Pattern {
 public:
  static constexpr std::uint64_t uses = CopyTrial::last + 3;

  static Limits limits() { return limits_with_trials(); }
  static std::unique_ptr<Pattern> draw(int ranks, Random& random) {
    static const std::vector<std::uint64_t> sizes{0,  0,  1,  6,  7,  12,  13,
                                                  16, 17, 20, 21, 40, 100, 300};
    auto pattern = std::make_unique<Pattern>();
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        const int times = random.chance(15) ? 2 : 1;
        for (int i = 0; i < times && (from != to || i == 0); ++i) {
          Passage passage;
          passage.from = from;
          passage.to = to;
          passage.sent = random.pick(sizes);
          passage.space = passage.sent + (random.chance(20) ? 5u : 0u);
          passage.gaps_here = random.chance(25);
          passage.gaps_there = random.chance(25);
          pattern->passages_.push_back(passage);
        }
      }
    }
    pattern->number_ = random.below(1000);
    return pattern;
  }

  static const char* name() { return "a pattern"; }
  std::unique_ptr<Part> part(const NodeMap& node_map) const {
    return std::make_unique<Part>(passages_, number_, node_map.rank());
  }

 private:
  std::vector<Passage> passages_;
  int number_ = 0;  // of what is sent
};

class CollectiveOn : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(CollectiveOn, BringsEachUseItsBytes) {
  play_seeds<PlanPlayers<Pattern>>(GetParam(), 40, false);
}

TEST_P(CollectiveOn, AlsoAsThreads) {
  play_seeds<PlanPlayers<Pattern>>(GetParam(), 10, true);
}

INSTANTIATE_TEST_SUITE_P(Placements, CollectiveOn,
                         ::testing::Values(std::vector<int>{0}, std::vector<int>{0, 0},
                                           std::vector<int>{0, 0, 0, 0}, std::vector<int>{0, 1},
                                           std::vector<int>{0, 1, 2}, std::vector<int>{0, 0, 1, 1}),
                         placement_name);

}  // namespace
}  // namespace oriel::test
