// SPDX-License-Identifier: BSD-3-Clause
// Which request takes which notification (N2, N3, N8).
#include "core/notify/matcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace oriel::test {
namespace {

constexpr std::int32_t wildcard = NotifyPattern::any;

std::vector<std::uint64_t> seen_by(const NotifyRequest& request) {
  return {static_cast<std::uint64_t>(request.last().source),
          static_cast<std::uint64_t>(request.last().tag), request.last().bytes};
}

TEST(Matcher, TakesTheOldestThatMatch) {
  Matcher matcher;
  matcher.arrive({1, 5, 100});
  matcher.arrive({2, 5, 200});
  matcher.arrive({1, 6, 300});
  EXPECT_EQ(matcher.kept(), 3u);

  NotifyRequest tag(NotifyPattern{wildcard, 5}, 2);
  EXPECT_TRUE(matcher.start(tag));
  EXPECT_EQ(seen_by(tag), (std::vector<std::uint64_t>{2, 5, 200}));  // the last of the two
  NotifyRequest all(NotifyPattern{wildcard, wildcard}, 1);
  EXPECT_TRUE(matcher.start(all));
  EXPECT_EQ(seen_by(all), (std::vector<std::uint64_t>{1, 6, 300}));
  EXPECT_EQ(matcher.kept(), 0u);
}

TEST(Matcher, GivesToTheRequestThatWasStartedFirst) {
  Matcher matcher;
  NotifyRequest wild(NotifyPattern{wildcard, 7}, 1);
  NotifyRequest exact(NotifyPattern{3, 7}, 1);
  EXPECT_FALSE(matcher.start(wild));
  EXPECT_FALSE(matcher.start(exact));
  EXPECT_TRUE(matcher.arrive({3, 7, 1}));
  EXPECT_TRUE(wild.complete());
  EXPECT_FALSE(exact.complete());
  EXPECT_TRUE(matcher.arrive({3, 7, 2}));
  EXPECT_TRUE(exact.complete());
  EXPECT_FALSE(matcher.arrive({3, 7, 3}));
  EXPECT_EQ(matcher.kept(), 1u);
}

/// The bytes of what it is told of.
struct Matches final : NotificationSink {
  void matched(const Notification& notification) const override {
    bytes.push_back(notification.bytes);
  }
  void counted(std::int32_t, std::uint64_t) const override {}
  mutable std::vector<std::uint64_t> bytes;
};

TEST(Matcher, TellsOnceWhatARequestTakes) {
  Matcher matcher;
  const Matches matches;
  matcher.arrive({1, 5, 100}, &matches);
  matcher.arrive({1, 6, 200}, &matches);
  EXPECT_TRUE(matches.bytes.empty()) << "nobody has asked for them";
  NotifyRequest two(NotifyPattern{1, 5}, 2);
  matcher.start(two, &matches);
  EXPECT_EQ(matches.bytes, (std::vector<std::uint64_t>{100}));
  matcher.arrive({1, 5, 300}, &matches);
  matcher.arrive({1, 5, 400}, &matches);
  EXPECT_EQ(matches.bytes, (std::vector<std::uint64_t>{100, 300}));
}

TEST(Matcher, CountsAndStartsAgain) {
  Matcher matcher;
  NotifyRequest request(NotifyPattern{0, wildcard}, 3);
  for (std::uint64_t round = 0; round < 4; ++round) {
    matcher.arrive({0, 1, round});
    EXPECT_FALSE(matcher.start(request));
    EXPECT_FALSE(matcher.arrive({0, 2, round}));
    EXPECT_FALSE(matcher.arrive({1, 2, round}));
    EXPECT_TRUE(matcher.arrive({0, 3, round}));
    EXPECT_EQ(request.last().tag, 3);
  }
  EXPECT_EQ(matcher.kept(), 4u);
}

TEST(Matcher, ARequestForNoneIsCompleteAtOnce) {
  Matcher matcher;
  matcher.arrive({0, 1, 8});
  NotifyRequest request(NotifyPattern{0, 1}, 0);
  EXPECT_TRUE(matcher.start(request));
  EXPECT_EQ(matcher.kept(), 1u);
}

TEST(Matcher, OneThatIsStoppedTakesNothingMore) {
  Matcher matcher;
  std::deque<NotifyRequest> requests;
  // Few of them, and many.
  for (const std::size_t count : {2, 9}) {
    requests.clear();
    for (std::size_t i = 0; i < count; ++i) {
      requests.emplace_back(NotifyPattern{0, i % 2 == 0 ? 4 : wildcard}, 1);
      EXPECT_FALSE(matcher.start(requests.back()));
    }
    for (std::size_t i = 0; i + 1 < count; ++i) matcher.stop(requests[i]);
    EXPECT_EQ(matcher.active(), 1u);
    EXPECT_TRUE(matcher.arrive({0, 4, 1}));
    EXPECT_TRUE(requests.back().complete());
    EXPECT_FALSE(requests.front().complete());
    EXPECT_EQ(matcher.active(), 0u);
  }
}

TEST(Matcher, AProbeTakesNothing) {
  Matcher matcher;
  EXPECT_EQ(matcher.find_kept({wildcard, wildcard}), nullptr);
  matcher.arrive({2, 9, 1});
  matcher.arrive({1, 9, 2});
  EXPECT_EQ(matcher.find_kept({wildcard, 9})->bytes, 1u);
  EXPECT_EQ(matcher.find_kept({1, wildcard})->bytes, 2u);
  EXPECT_EQ(matcher.find_kept({1, 8}), nullptr);
  EXPECT_EQ(matcher.kept(), 2u);
}

/// The same by looking at everything in order.
class PlainMatcher {
 public:
  struct Request {
    NotifyPattern pattern;
    std::uint32_t left = 0;
    int name = 0;
    Notification last;
  };

  /// The name of the request that took it, and how many it still wants; nothing: it is kept.
  std::optional<std::pair<int, std::uint32_t>> arrive(const Notification& notification) {
    for (auto request = active_.begin(); request != active_.end(); ++request) {
      if (!request->pattern.matches(notification)) continue;
      request->last = notification;
      const std::pair<int, std::uint32_t> taker{request->name, --request->left};
      if (request->left == 0) active_.erase(request);
      return taker;
    }
    kept_.push_back(notification);
    return std::nullopt;
  }
  /// What it has taken last; it waits for `left` more.
  Request start(Request request) {
    for (auto kept = kept_.begin(); kept != kept_.end() && request.left != 0;) {
      if (!request.pattern.matches(*kept)) {
        ++kept;
        continue;
      }
      request.last = *kept;
      --request.left;
      kept = kept_.erase(kept);
    }
    if (request.left != 0) active_.push_back(request);
    return request;
  }
  void stop(int name) {
    active_.remove_if([&](const Request& request) { return request.name == name; });
  }
  const Notification* find(const NotifyPattern& pattern) const {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Notification& kept) {
      return pattern.matches(kept);
    });
    return found != kept_.end() ? &*found : nullptr;
  }
  std::size_t kept() const { return kept_.size(); }
  std::size_t active() const { return active_.size(); }

 private:
  std::list<Request> active_;
  std::list<Notification> kept_;
};

void expect_same(const Notification& one, const Notification& other) {
  EXPECT_EQ(one.source, other.source);
  EXPECT_EQ(one.tag, other.tag);
  EXPECT_EQ(one.bytes, other.bytes);
}

void play(std::uint64_t seed) {
  Random random(seed);
  const int sources = random.between(1, 4);
  const int tags = random.between(1, 5);
  const int wild = random.pick(std::vector{0, 10, 50, 100});
  const int starts = random.between(20, 70);  // of 100 steps: rather starts or arrivals
  Matcher matcher;
  PlainMatcher plain;
  std::deque<NotifyRequest> requests;
  std::vector<std::uint32_t> counts;  // of each request
  const auto pattern = [&] {
    return NotifyPattern{random.chance(wild) ? wildcard : random.below(sources),
                         random.chance(wild) ? wildcard : random.below(tags)};
  };
  for (int step = 0; step < 400; ++step) {
    if (random.chance(3) && matcher.active() != 0) {
      const int name = random.below(static_cast<int>(requests.size()));
      NotifyRequest& request = requests[static_cast<std::size_t>(name)];
      if (!request.active()) continue;
      matcher.stop(request);
      plain.stop(name);
    } else if (random.chance(5)) {
      const NotifyPattern asked = pattern();
      const Notification* found = matcher.find_kept(asked);
      const Notification* expected = plain.find(asked);
      ASSERT_EQ(found != nullptr, expected != nullptr);
      if (found != nullptr) expect_same(*found, *expected);
    } else if (random.chance(starts)) {
      // A request that is not active is used again, or a new one is made.
      int name = static_cast<int>(requests.size());
      const int older = name != 0 ? random.below(name) : 0;
      if (name != 0 && !requests[static_cast<std::size_t>(older)].active()) {
        name = older;
      } else {
        counts.push_back(static_cast<std::uint32_t>(random.between(0, 3)));
        requests.emplace_back(pattern(), counts.back());
      }
      NotifyRequest& request = requests[static_cast<std::size_t>(name)];
      const std::uint32_t expected = counts[static_cast<std::size_t>(name)];
      const PlainMatcher::Request after = plain.start({request.pattern(), expected, name, {}});
      ASSERT_EQ(matcher.start(request), after.left == 0);
      ASSERT_EQ(request.active(), after.left != 0);
      if (after.left != expected) expect_same(request.last(), after.last);
    } else {
      const Notification notification{random.below(sources), random.below(tags),
                                      static_cast<std::uint64_t>(step)};
      const bool completed = matcher.arrive(notification);
      const auto taker = plain.arrive(notification);
      ASSERT_EQ(completed, taker && taker->second == 0);
      if (taker) {
        const NotifyRequest& request = requests[static_cast<std::size_t>(taker->first)];
        expect_same(request.last(), notification);
        ASSERT_EQ(request.complete(), taker->second == 0);
        ASSERT_EQ(request.active(), taker->second != 0);
      }
    }
    ASSERT_EQ(matcher.kept(), plain.kept());
    ASSERT_EQ(matcher.active(), plain.active());
  }
}

TEST(Matcher, RandomCallsMatchAsAPlainSearchDoes) {
  const Seeds seeds = Seeds::from_environment(500);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(seed);
    if (HasFatalFailure()) return;
  }
}

// 1,000,000 kept and 100,000 active: linear matching would take hours, so the time limit of the
// test says that it is not.
TEST(Matcher, ManyAreMatchedInConstantTime) {
  constexpr std::int32_t many_kept = 1'000'000;
  constexpr std::int32_t many_active = 100'000;
  Matcher matcher;
  for (std::int32_t i = 0; i < many_kept; ++i) matcher.arrive({i % 1000, i / 1000, 1});
  // The youngest first: who walks in order of arrival walks over all.
  for (std::int32_t i = many_kept; i-- > many_kept - many_active;) {
    NotifyRequest request(NotifyPattern{i % 1000, i / 1000}, 1);
    ASSERT_TRUE(matcher.start(request));
  }
  ASSERT_EQ(matcher.kept(), static_cast<std::size_t>(many_kept - many_active));

  std::deque<NotifyRequest> requests;
  for (std::int32_t i = 0; i < many_active; ++i) {
    requests.emplace_back(NotifyPattern{i % 100, 1'000'000 + i / 100}, 1);
    ASSERT_FALSE(matcher.start(requests.back()));
  }
  for (std::int32_t i = many_active; i-- > 0;) {
    ASSERT_TRUE(matcher.arrive({i % 100, 1'000'000 + i / 100, 1}));
  }
  EXPECT_EQ(matcher.active(), 0u);
}

}  // namespace
}  // namespace oriel::test
