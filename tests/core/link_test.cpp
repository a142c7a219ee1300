// SPDX-License-Identifier: BSD-3-Clause
// Epochs reach other ranks through links and a fence only: here both only note their calls.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/epoch/epochs.hpp"
#include "core/lock/control.hpp"
#include "support/calls.hpp"

namespace oriel::test {
namespace {

using Calls = std::vector<std::string>;

/// A link whose targets are available at once and whose operations end at their calls.
class NotingLink final : public Link {
 public:
  NotingLink(const char* name, bool remote, EpochState& state, Calls& calls)
      : Link(remote), name_(name), pending_(state.pending), calls_(calls) {}

  void expose(int origin, std::uint64_t id, bool /*no_check*/) override {
    note("exposes " + std::to_string(id) + " to", origin);
  }
  Outcome issue(const Operation& operation, Epoch& epoch, Target& target) override {
    if (target.access != Target::Access::granted) pending_.mark_granted(epoch, target);
    note("issues to", operation.target);
    return Outcome::finished();
  }
  bool advance(Epoch& epoch, Target& target) override {
    if (!epoch.closed) return false;
    note("ends", target.rank);
    pending_.mark_signaled(epoch, target);
    return true;
  }
  void transferred(RecordedOperation& /*recorded*/, const Transfer& /*transfer*/) override {}
  void push(bool urgent) override { calls_.push_back(name_ + (urgent ? " pushes" : " may push")); }

 private:
  void note(const std::string& call, int rank) {
    calls_.push_back(name_ + " " + call + " " + std::to_string(rank));
  }

  std::string name_;
  PendingOperations& pending_;
  Calls& calls_;
};

class NotingFence final : public Fence {
 public:
  NotingFence(bool counted, Calls& calls) : Fence(counted, true), calls_(calls) {}

  void open(std::uint64_t call, bool announce) override {
    calls_.push_back("fence " + std::to_string(call) + (announce ? " opens first" : " opens"));
  }
  bool end(Epoch& epoch) override {
    calls_.push_back("fence " + std::to_string(epoch.closing_call) + " ends");
    return true;
  }
  void find_late(std::uint64_t /*closing_call*/, std::vector<int>& /*late*/) override {}

 private:
  Calls& calls_;
};

/// Rank 0 of a window of four ranks, of which 0 and 2 are mapped.
class LinkTest : public ::testing::Test {
 protected:
  static constexpr int ranks = 4;

  EpochsSpec spec() const {
    EpochsSpec spec;
    spec.slots = slots_.data();
    spec.alive = [](int /*rank*/) { return true; };
    spec.check = [](const Operation& operation, FailureReason& reason) {
      return operation.displacement < 0 ? reason.fail(Error::displacement, "it is refused")
                                        : Error::none;
    };
    return spec;
  }
  Calls put(Epochs& epochs, int target, std::int64_t displacement = 0) {
    static const std::uint64_t value = 1;
    calls_.clear();
    error_ = epochs.issue(on_word(OperationKind::put, &value, target, displacement)).error;
    return calls_;
  }

  Calls calls_;
  Error error_ = Error::none;
  Events events_;
  EpochPools pools_;
  LockOrder order_;
  WindowsAtWork at_work_;
  SweepWork work_{at_work_};
  std::array<int, 2> mapped_ranks_{0, 2};
  EpochPeers peers_{ranks, mapped_ranks_};
  EpochState state_{{events_, {1, 0}}, peers_, pools_, order_, work_};
  NotingLink mapped_{"mapped", false, state_, calls_};
  NotingLink remote_{"remote", true, state_, calls_};
  std::array<Slot, ranks> slots_;
};

TEST_F(LinkTest, IsChosenByRank) {
  peers_.set_links(mapped_, &remote_);
  EXPECT_EQ(&peers_.link(0), &mapped_);
  EXPECT_EQ(&peers_.link(1), &remote_);
  EXPECT_EQ(&peers_.link(2), &mapped_);
  EXPECT_EQ(&peers_.link(3), &remote_);
  EXPECT_EQ(peers_[1].link, &remote_) << "the choice is kept";
}

TEST_F(LinkTest, TakesTheOperationsOfItsRanks) {
  peers_.set_links(mapped_, &remote_);
  NotingFence fence(false, calls_);
  Epochs epochs(spec(), state_, fence, pools_);
  ASSERT_EQ(epochs.open_lock_all({}, all_threads), Error::none);
  EXPECT_EQ(put(epochs, 2), Calls{"mapped issues to 2"});
  EXPECT_EQ(put(epochs, 1), Calls{"remote issues to 1"});
  EXPECT_TRUE(put(epochs, 2, -1).empty());
  EXPECT_EQ(error_, Error::displacement);
  EXPECT_TRUE(put(epochs, ranks).empty());
  EXPECT_EQ(error_, Error::rank);
  calls_.clear();
  EXPECT_TRUE(epochs.close_lock_all(nullptr).done);
  EXPECT_EQ(calls_, (Calls{"remote ends 1", "mapped ends 2", "remote pushes"}))
      << "remote targets come first";
}

TEST_F(LinkTest, OfMappedRanksAloneSendsNothing) {
  peers_.set_links(mapped_, nullptr);
  NotingFence fence(false, calls_);
  Epochs epochs(spec(), state_, fence, pools_);
  const std::array origins{2};
  ASSERT_EQ(epochs.post(origins, {}), Error::none);
  EXPECT_EQ(calls_, Calls{"mapped exposes 1 to 2"});
  DoneWord done;
  ASSERT_TRUE(done.add(1));
  slots_[2].done.store(done.word());
  EXPECT_TRUE(epochs.wait(nullptr).done) << "the origin has stored that it is done";
}

TEST_F(LinkTest, CountedFencesAllClose) {
  peers_.set_links(mapped_, &remote_);
  for (const bool counted : {false, true}) {
    calls_.clear();
    NotingFence fence(counted, calls_);
    Epochs epochs(spec(), state_, fence, pools_);
    EXPECT_TRUE(epochs.fence({}, false, nullptr).done);
    const Calls closes{"fence 0 opens", "fence 1 ends", "remote pushes", "fence 1 opens"};
    EXPECT_EQ(calls_, counted ? closes : Calls{"fence 1 opens first"});
  }
}

}  // namespace
}  // namespace oriel::test
