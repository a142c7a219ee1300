// SPDX-License-Identifier: BSD-3-Clause
// Operations whose completion waits for the target (Q7): what they brought is in its memory when
// the completion is told, and not one is left untold, in whatever order things arrive.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <ostream>
#include <string>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr int window_size_words = 64;

struct ArrivalSetting {
  const char* name = "";
  std::vector<int> nodes;
  bool direct = false;
  SimNetwork::Writes writes = {};
  bool atomics = false;
  std::uint64_t pieces = 0;  // not 0: of a dynamic window
};

void PrintTo(const ArrivalSetting& setting, std::ostream* out) {
  *out << setting.name;
}

/// One operation of rank 0 on a word of its own at rank 1 or 2.
class Arrival final : public Completion {
 public:
  Arrival(SimJob& job, int target, int word, std::uint64_t value)
      : value_(value), job_(job), target_(target), word_(word) {}

  void complete(Error error) override {
    EXPECT_EQ(error, Error::none);
    EXPECT_FALSE(completed_) << "completed twice";
    completed_ = true;
    std::uint64_t there = 0;
    std::memcpy(&there, job_.memory(target_) + word_ * 8, sizeof there);
    EXPECT_EQ(there, value_) << "completed before it was there";
  }
  void issue(OperationKind kind) {
    Operation operation =
        on_word(kind, &value_, target_,
                job_.displacement(target_, 0, std::uint64_t{8} * static_cast<unsigned>(word_)));
    operation.completion = this;
    operation.completes_there = true;
    if (fetches(kind)) {
      operation.reduction = {Op::sum, Basic::u64, 8};
      operation.result = operation.origin;
      operation.result.address = &before_;
    }
    const Outcome outcome = job_.window(0).epochs().issue(operation);
    ASSERT_EQ(outcome.error, Error::none);
    if (outcome.done) complete(Error::none);
  }
  bool completed() const { return completed_; }

 private:
  std::uint64_t value_;
  std::uint64_t before_ = 0;
  SimJob& job_;
  int target_;
  int word_;
  bool completed_ = false;
};

class RemoteCompletion : public ::testing::TestWithParam<ArrivalSetting> {
 protected:
  /// `every_length`: a card carries direct transfers out.
  static Limits limits(const ArrivalSetting& setting, bool every_length) {
    Limits limits;
    if (setting.direct && every_length) {
      limits.set_by_card(true);
    } else if (setting.direct) {
      limits.direct = limits.direct_run = 0;
    }
    if (setting.pieces != 0) limits.fragment = 4;  // shorter than a word
    return limits;
  }
  /// Something, chosen by chance, goes on.
  static void step(SimJob& job, Random& random) {
    const auto routes = job.network().under_way();
    if (!routes.empty() && random.chance(60)) {
      job.network().deliver(random.pick(routes));
    } else {
      job.process(random.below(job.ranks())).sweep();
    }
  }
};

TEST_P(RemoteCompletion, TellsWhatIsThereAndForgetsNobody) {
  constexpr std::array kinds{OperationKind::put, OperationKind::accumulate,
                             OperationKind::get_accumulate};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    SimJob job(GetParam().nodes, false, limits(GetParam(), random.chance(50)));
    job.network().set_writes(GetParam().writes);
    if (random.chance(50)) job.network().set_longest_copied(8);
    if (random.chance(50)) {
      job.network().set_congesting(static_cast<std::size_t>(random.between(1, 3)));
    }
    SimWindowSpec spec;
    spec.bytes = window_size_words * 8;
    spec.direct = GetParam().direct;
    spec.pieces = GetParam().pieces;
    if (GetParam().atomics) spec.atomics = {bit(Basic::u64), every_op};
    job.create_window(spec);
    std::deque<Arrival> arrivals;
    std::deque<PostedCall> closed;
    int word = 0;
    const auto some_steps = [&] {
      for (int i = random.below(6); i > 0; --i) step(job, random);
    };
    for (int epoch = 0; epoch < 6; ++epoch) {
      const int target = random.between(1, 2);
      Assert assertion;
      assertion.weak_unlock = random.chance(30);
      const bool all = random.chance(30);
      const bool exclusive = random.chance(50);
      ASSERT_EQ(all ? job.window(0).lock_all(assertion)
                    : job.window(0).lock(exclusive, target, assertion),
                Error::none);
      for (int i = random.below(6); i > 0; --i) {
        some_steps();
        const int to = all ? random.between(1, 2) : target;
        arrivals.emplace_back(job, to, word++, random.next() | 1);
        arrivals.back().issue(kinds[static_cast<std::size_t>(random.below(3))]);
        if (random.chance(20)) {
          closed.emplace_back();
          closed.back().take(job.window(0).epochs().flush(to, random.chance(50), &closed.back()));
        }
      }
      some_steps();
      closed.emplace_back();
      closed.back().take(all ? job.window(0).unlock_all(&closed.back())
                             : job.window(0).unlock(target, &closed.back()));
    }
    job.run_until_idle();
    for (const Arrival& arrival : arrivals) ASSERT_TRUE(arrival.completed()) << "seed " << seed;
    for (const PostedCall& posted : closed) ASSERT_TRUE(posted.done()) << "seed " << seed;
    EXPECT_TRUE(job.window(0).epochs().quiet());
    // The locks are free.
    for (const int target : {1, 2}) {
      PostedCall posted;
      ASSERT_EQ(job.window(1).lock(true, target, {}), Error::none);
      issue(job.window(1),
            on_word(OperationKind::put, &seed, target, job.displacement(target, 0, 0)));
      posted.take(job.window(1).unlock(target, &posted));
      job.run_until_idle();
      ASSERT_TRUE(posted.done()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Links, RemoteCompletion,
    ::testing::Values(
        ArrivalSetting{"mapped", {0, 0, 0}}, ArrivalSetting{"messages", {0, 1, 2}},
        ArrivalSetting{"both", {0, 0, 1}}, ArrivalSetting{"direct", {0, 1, 2}, true},
        ArrivalSetting{"delivered", {0, 1, 2}, true, SimNetwork::delivered_writes},
        ArrivalSetting{"card", {0, 1, 2}, true, SimNetwork::card_writes},
        ArrivalSetting{"atomics", {0, 1, 0}, false, {}, true},
        ArrivalSetting{"rendezvous", {0, 1, 2}, true, {}, false, 3},
        ArrivalSetting{"both_delivered", {0, 0, 1}, true, SimNetwork::delivered_writes, false, 2}),
    [](const auto& setting) { return std::string(setting.param.name); });

/// All ranks are remote to one another.
class FailedCompletion : public ::testing::Test {
 protected:
  static Limits limits() {
    Limits limits;
    limits.direct = limits.direct_run = 0;
    return limits;
  }
  FailedCompletion() {
    SimWindowSpec spec;
    spec.bytes = 8;
    spec.direct = true;
    job_.create_window(spec);
  }
  Error put() {
    Flag flag;
    Operation operation = on_word(OperationKind::put, &value_, 1);
    operation.completion = &flag;
    operation.completes_there = true;
    EXPECT_FALSE(window().epochs().issue(operation).done);
    job_.run_until_idle();
    EXPECT_TRUE(flag.done());
    return flag.error();
  }
  Window& window() { return job_.window(0); }

  SimJob job_{{0, 1, 2}, false, limits()};
  std::uint64_t value_ = 7;
};

TEST_F(FailedCompletion, IsToldToItsOwnerAndToTheNextFlush) {
  ASSERT_EQ(window().lock(true, 1, {}), Error::none);
  EXPECT_EQ(put(), Error::none);
  job_.network().set_failing(true);
  EXPECT_EQ(put(), Error::system);
  job_.network().set_failing(false);
  EXPECT_EQ(put(), Error::none) << "others have nothing to do with it";
  Flag flushed;
  const Outcome outcome = window().epochs().flush(1, false, &flushed);
  job_.run_until_idle();
  EXPECT_EQ(outcome.done ? outcome.error : flushed.error(), Error::system);
}

// Of a target that answers no more, whoever waits is told by whoever looks, also if another one is
// waited for.
TEST_F(FailedCompletion, WaitsForItsTarget) {
  ASSERT_EQ(window().lock_all({}), Error::none);
  EXPECT_EQ(put(), Error::none);
  issue(window(), on_word(OperationKind::accumulate, &value_, 2));
  Flag flushed;
  EXPECT_FALSE(window().epochs().flush(2, false, &flushed).done);
  job_.run_until_idle();
  ASSERT_TRUE(flushed.done());
  Flag flag;
  Operation operation = on_word(OperationKind::accumulate, &value_, 1);
  operation.completion = &flag;
  operation.completes_there = true;
  EXPECT_FALSE(window().epochs().issue(operation).done);
  issue(window(), on_word(OperationKind::accumulate, &value_, 2));
  EXPECT_FALSE(window().epochs().flush(2, false, &flushed).done);
  EXPECT_EQ(window().epochs().lost_peer(), -1);
  job_.transport(0).set_ended(1);
  EXPECT_EQ(window().epochs().lost_peer(), 1);
}

}  // namespace
}  // namespace oriel::test
