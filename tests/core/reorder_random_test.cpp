// SPDX-License-Identifier: BSD-3-Clause
// Random epochs of one rank with random reorder keys, which may change in between: whatever they
// hold (notified and direct transfers, atomics of the network, weak and NOCHECK locks, flushes),
// all of them complete (E5, E7, E15).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "support/calls.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t long_bytes = 640;

class RandomEpochs {
 public:
  RandomEpochs(std::uint64_t seed, bool keys_change)
      : random_(seed),
        keys_change_(keys_change),
        job_({0, random_.below(2), random_.below(3), random_.below(3)}, false, limits()) {
    job_.network().set_writes(random_.pick(SimNetwork::all_writes));
    job_.network().set_congesting(static_cast<std::size_t>(random_.between(1, 6)));
    SimWindowSpec spec;
    spec.bytes = 4096;
    spec.direct = random_.chance(60);
    if (random_.chance(25)) spec.atomics = {bit(Basic::u64), every_op};
    if (random_.chance(30)) {
      spec.memory = {Path::system_call, Path::system_call, Path::load_store, Path::load_store};
    }
    spec.reorder = keys();
    job_.create_window(spec);
  }

  void play() {
    for (int epoch = 0; epoch < 14; ++epoch) {
      if (keys_change_ && random_.chance(25)) me().epochs().set_reorder(keys());
      if (random_.chance(25)) hold_or_release(random_.between(0, 2));
      switch (random_.below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
          lock(random_.between(0, 2));
          break;
        case 5:
        case 6:
          lock_all();
          break;
        case 7:
        case 8:
          access(random_.between(1, 2));
          break;
        default:
          exposure(random_.between(1, 2));
      }
      advance(6);
    }
    for (int target = 0; target < 3; ++target) {
      if (held_[static_cast<std::size_t>(target)]) hold_or_release(target);
    }
    job_.run_until_idle();
  }
  bool all_done() {
    for (const PostedCall& one : posted_) {
      if (!one.done()) return false;
    }
    return me().epochs().quiet();
  }

 private:
  Limits limits() {
    Limits limits;
    if (random_.chance(50)) limits.set_by_card(true);
    if (random_.chance(50)) {
      limits.direct = long_bytes - 1;
      limits.direct_run = 0;
    }
    limits.direct_fragment = 128;
    if (random_.chance(30)) limits.ahead = 1024;
    return limits;
  }
  Reorder keys() {
    Reorder keys;
    keys.access_after_access = random_.chance(80);
    keys.access_after_exposure = random_.chance(50);
    keys.exposure_after_exposure = random_.chance(50);
    keys.exposure_after_access = random_.chance(50);
    return keys;
  }
  Window& me() { return job_.window(0); }
  template <typename Call>
  void take(Call&& call) {
    PostedCall& posted = posted_.emplace_back();
    posted.take(call(&posted));
  }
  /// Rank 3 holds the lock of the target for a while.
  void hold_or_release(int target) {
    bool& held = held_[static_cast<std::size_t>(target)];
    Window& other = job_.window(3);
    if (held) {
      take([&](PostedCall* posted) { return other.unlock(target, posted); });
    } else {
      ASSERT_EQ(other.lock(random_.chance(70), target, {}), Error::none);
    }
    held = !held;
  }
  /// Some packets arrive, some ranks sweep.
  void advance(int most) {
    for (int i = random_.below(most); i > 0; --i) {
      const auto routes = job_.network().under_way();
      if (!routes.empty() && random_.chance(60)) {
        job_.network().deliver(random_.pick(routes));
      } else {
        job_.process(random_.below(4)).sweep();
      }
    }
  }
  void operate(int target) {
    static const LayoutRef all(new Layout({{0, long_bytes}}, long_bytes, Basic::u64));
    const bool accumulates = random_.chance(20);
    const bool gets = !accumulates && random_.chance(40);
    Operation operation = on_word(
        accumulates ? OperationKind::accumulate : (gets ? OperationKind::get : OperationKind::put),
        sources_.data(), target, std::int64_t{8} * random_.below(100));
    if (!accumulates && random_.chance(25)) operation.origin.layout = operation.target_layout = all;
    if (gets) {
      operation.result = operation.origin;
      operation.result.address = results_.emplace_back().data();
      operation.origin = {};
    }
    switch (random_.below(8)) {
      case 0:
        operation.notify_arg = {NotifyKind::tag, 1, 8};
        break;
      case 1:
        operation.completes_there = !gets;
        [[fallthrough]];
      case 2:
        operation.completion = &posted_.emplace_back();
        break;
      default:
        break;
    }
    const Outcome outcome = me().epochs().issue(operation);
    ASSERT_EQ(outcome.error, Error::none);
    if (operation.completion != nullptr && outcome.done) {
      operation.completion->complete(Error::none);
    }
  }
  void operate_on(const std::vector<int>& targets, int most) {
    for (int i = random_.below(most); i > 0; --i) {
      operate(random_.pick(targets));
      advance(3);
    }
  }
  Assert assertion() {
    Assert assertion;
    assertion.weak_unlock = random_.chance(20);
    assertion.no_check = random_.chance(10);
    return assertion;
  }
  void lock(int target) {
    ASSERT_EQ(me().lock(random_.chance(70), target, assertion()), Error::none);
    operate_on({target}, 4);
    if (random_.chance(15)) {
      const bool local = random_.chance(50);
      take([&](PostedCall* posted) { return me().epochs().flush(target, local, posted); });
    }
    take([&](PostedCall* posted) { return me().unlock(target, posted); });
  }
  void lock_all() {
    ASSERT_EQ(me().lock_all(assertion()), Error::none);
    operate_on({0, 1, 2}, 5);
    if (random_.chance(15)) {
      const bool local = random_.chance(50);
      take([&](PostedCall* posted) { return me().epochs().flush_all(local, posted); });
    }
    take([&](PostedCall* posted) { return me().unlock_all(posted); });
  }
  void access(int target) {
    const std::array<int, 1> group = {target};
    const std::array<int, 1> origin = {0};
    ASSERT_EQ(me().epochs().start(group, {}), Error::none);
    operate_on({target}, 4);
    take([&](PostedCall* posted) { return me().epochs().complete(posted); });
    Epochs& others = job_.window(target).epochs();
    ASSERT_EQ(others.post(origin, {}), Error::none);
    take([&](PostedCall* posted) { return others.wait(posted); });
  }
  void exposure(int origin) {
    const std::array<int, 1> group = {0};
    const std::array<int, 1> origins = {origin};
    ASSERT_EQ(me().epochs().post(origins, {}), Error::none);
    take([&](PostedCall* posted) { return me().epochs().wait(posted); });
    Epochs& others = job_.window(origin).epochs();
    ASSERT_EQ(others.start(group, {}), Error::none);
    take([&](PostedCall* posted) { return others.complete(posted); });
  }

  Random random_;
  bool keys_change_;
  std::vector<std::uint64_t> sources_ = std::vector<std::uint64_t>(long_bytes / 8, 7);
  std::deque<std::array<std::uint64_t, long_bytes / 8>> results_;
  std::deque<PostedCall> posted_;
  std::array<bool, 3> held_{};
  SimJob job_;
};

class RandomReordered : public ::testing::TestWithParam<bool> {};

TEST_P(RandomReordered, AllEpochsComplete) {
  const Seeds seeds = Seeds::from_environment(2000);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    RandomEpochs epochs(seed, GetParam());
    epochs.play();
    ASSERT_TRUE(epochs.all_done()) << "seed " << seed;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, RandomReordered, ::testing::Values(false, true),
                         [](const auto& keys) { return keys.param ? "Changing" : "Fixed"; });

}  // namespace
}  // namespace oriel::test
