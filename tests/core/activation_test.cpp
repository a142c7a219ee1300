// SPDX-License-Identifier: BSD-3-Clause
// The activation predicate (E5, E7): every pair of epoch kinds under every setting of the four
// reorder keys, as a table of its own and as what a window really does.
#include "core/epoch/activation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "support/calls.hpp"
#include "support/program.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::array kinds = {EpochKind::fence, EpochKind::access, EpochKind::exposure,
                              EpochKind::lock, EpochKind::lock_all};
const char* const names[] = {"fence", "access", "exposure", "lock", "lock_all"};

/// Which key lets the later epoch overlap the earlier one; paper section VI-B. Locks and lock_all
/// are access epochs; a fence is overtaken by an exposure alone, with both keys of exposures, and
/// overtakes nothing (docs/protocols.md, "Reordered epochs").
enum Rule { never, aaar, aaer, eaer, eaar, both };

// Rows: the earlier epoch, columns: the later one.
constexpr Rule rules[5][5] = {
    // fence  access exposure lock lock_all
    {never, never, both, never, never},  // fence
    {never, aaar, eaar, aaar, aaar},     // access
    {never, aaer, eaer, aaer, aaer},     // exposure
    {never, aaar, eaar, aaar, aaar},     // lock
    {never, aaar, eaar, aaar, aaar},     // lock_all
};

bool allowed(EpochKind earlier, EpochKind later, Reorder keys) {
  switch (rules[static_cast<int>(earlier)][static_cast<int>(later)]) {
    case never:
      return false;
    case aaar:
      return keys.access_after_access;
    case aaer:
      return keys.access_after_exposure;
    case eaer:
      return keys.exposure_after_exposure;
    case eaar:
      return keys.exposure_after_access;
    case both:
      return keys.exposure_after_exposure && keys.exposure_after_access;
  }
  return false;
}

TEST(Activation, PredicateIsTheTable) {
  for (const EpochKind earlier : kinds) {
    for (const EpochKind later : kinds) {
      for (unsigned bits = 0; bits < 16; ++bits) {
        EXPECT_EQ(may_overlap(earlier, later, keys_of(bits)),
                  allowed(earlier, later, keys_of(bits)))
            << names[static_cast<int>(earlier)] << " then " << names[static_cast<int>(later)]
            << ", keys " << bits;
      }
    }
  }
}

/// Rank 0 is the one whose epochs are looked at; its earlier epoch has to do with rank 1, which
/// does its part late; its later one with rank 2, which does its part at once. Rank 3 holds the
/// lock of rank 1 for that time.
class TwoEpochs {
 public:
  TwoEpochs(bool mapped, Reorder keys)
      : job_(mapped ? std::vector<int>{0, 0, 0, 0} : std::vector<int>{0, 1, 2, 3}) {
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.reorder = keys;
    job_.create_window(spec);
  }

  /// Before rank 0's earlier epoch: whoever is not late does its part.
  void prepare(EpochKind earlier) {
    if (earlier == EpochKind::fence) {
      fence(2);
      fence(3);
    }
    if (earlier != EpochKind::lock && earlier != EpochKind::lock_all) return;
    ASSERT_EQ(rank(3).lock(true, 1, {}), Error::none);
    put(3, 1, 3);
    job_.run_until_idle();
  }

  /// Opens and closes one of rank 0's epochs with `peer`.
  void play(EpochKind kind, int peer, PostedCall& posted) {
    Window& me = rank(0);
    const std::array<int, 1> group = {peer};
    switch (kind) {
      case EpochKind::fence:
        EXPECT_TRUE(me.epochs().fence(no_precede(), false, nullptr).done);
        put(0, peer, 7);
        posted.take(me.epochs().fence(no_succeed(), false, &posted));
        break;
      case EpochKind::access:
        ASSERT_EQ(me.epochs().start(group, {}), Error::none);
        put(0, peer, 7);
        posted.take(me.epochs().complete(&posted));
        break;
      case EpochKind::exposure:
        ASSERT_EQ(me.epochs().post(group, {}), Error::none);
        posted.take(me.epochs().wait(&posted));
        break;
      case EpochKind::lock:
        ASSERT_EQ(me.lock(true, peer, {}), Error::none);
        put(0, peer, 7);
        posted.take(me.unlock(peer, &posted));
        break;
      case EpochKind::lock_all:
        ASSERT_EQ(me.lock_all({}), Error::none);
        put(0, peer, 7);
        posted.take(me.unlock_all(&posted));
        break;
      case EpochKind::notified:  // has no calls of its own
        break;
    }
  }

  /// What the peer of one of rank 0's epochs has to do.
  void answer(EpochKind kind, int peer) {
    Window& other = rank(peer);
    PostedCall& posted = answers_[static_cast<std::size_t>(peer) - 1];
    const std::array<int, 1> group = {0};
    if (kind == EpochKind::access) {
      ASSERT_EQ(other.epochs().post(group, {}), Error::none);
      posted.take(other.epochs().wait(&posted));
    } else if (kind == EpochKind::exposure) {
      ASSERT_EQ(other.epochs().start(group, {}), Error::none);
      posted.take(other.epochs().complete(&posted));
    }
  }
  void fence(int other) {
    EXPECT_TRUE(rank(other).epochs().fence(no_precede(), false, nullptr).ok());
    EXPECT_TRUE(rank(other).epochs().fence(no_succeed(), false, nullptr).ok());
  }
  void release() { answers_[2].take(rank(3).unlock(1, &answers_[2])); }
  void run_until_idle() { job_.run_until_idle(); }
  std::uint64_t memory(int owner) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(owner), sizeof value);
    return value;
  }

 private:
  Window& rank(int index) { return job_.window(index); }
  void put(int origin, int target, std::uint64_t value) {
    std::uint64_t& word = values_[static_cast<std::size_t>(origin)];
    word = value;
    issue(rank(origin), on_word(OperationKind::put, &word, target));
  }

  SimJob job_;
  std::array<std::uint64_t, 4> values_{};
  std::array<PostedCall, 3> answers_;  // of ranks 1 to 3
};

class ActivationOf : public ::testing::TestWithParam<bool> {};

TEST_P(ActivationOf, ALaterEpochWaitsUnlessAKeyLetsItGo) {
  for (const EpochKind earlier : kinds) {
    for (const EpochKind later : kinds) {
      for (unsigned bits = 0; bits < 16; ++bits) {
        SCOPED_TRACE(std::string(names[static_cast<int>(earlier)]) + " then " +
                     names[static_cast<int>(later)] + ", keys " + std::to_string(bits));
        TwoEpochs two(GetParam(), keys_of(bits));
        PostedCall first;
        PostedCall second;
        two.prepare(earlier);
        two.play(earlier, 1, first);
        two.play(later, 2, second);
        two.answer(later, 2);
        two.run_until_idle();
        // Short operations on a remote target are sent ahead: the access has completed, and still
        // the later epoch waits until the target is exposed.
        const bool sent_ahead = !GetParam() && earlier == EpochKind::access;
        EXPECT_EQ(first.done(), sent_ahead);
        // An exposure may be open before the fence is over, but its origin waits for that fence.
        const bool fenced = earlier == EpochKind::fence;
        EXPECT_EQ(second.done(), !fenced && allowed(earlier, later, keys_of(bits)));

        // Nothing is lost by the wait: both complete when the late ranks have done their part.
        if (earlier == EpochKind::lock || earlier == EpochKind::lock_all) two.release();
        two.answer(earlier, 1);
        if (earlier == EpochKind::fence) two.fence(1);
        two.run_until_idle();
        for (int other = 1; later == EpochKind::fence && other < 4; ++other) two.fence(other);
        two.run_until_idle();
        EXPECT_TRUE(first.done());
        EXPECT_TRUE(second.done());
        EXPECT_EQ(two.memory(1), earlier == EpochKind::exposure ? 0u : 7u);
        EXPECT_EQ(two.memory(2), later == EpochKind::exposure ? 0u : 7u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Peers, ActivationOf, ::testing::Values(true, false),
                         [](const auto& one) { return one.param ? "Mapped" : "Remote"; });

}  // namespace
}  // namespace oriel::test
