// SPDX-License-Identifier: BSD-3-Clause
// Which exposure epoch an access epoch meets (E8): the window's counters against a matcher that
// keeps lists and looks through them. Nonblocking epochs of random groups, opened in any order by
// all ranks, many of them never met.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "core/epoch/activation.hpp"
#include "support/calls.hpp"
#include "support/index.hpp"
#include "support/program.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

// So that no epoch gets out of DoneWord's reach, which only delays.
constexpr int epochs_per_rank = 12;

struct Played {
  EpochKind kind = EpochKind::access;
  std::vector<int> group;
  std::vector<bool> empty;  // access: nothing is put to this target
  bool active = false;
  std::vector<bool> met;  // by place in the group: nothing is left to be done with this peer
  bool complete = false;
};

/// Rank r's i-th exposure to o meets o's i-th access to r; nothing else is known here.
class NaiveMatcher {
 public:
  NaiveMatcher(int ranks, Reorder keys) : keys_(keys), epochs_(at(ranks)) {}

  /// Whether the call that closed the epoch has completed. An access to remote targets completes
  /// with its operations on their way: a target that is not yet exposed holds them back (S3).
  bool told(int rank, std::size_t index, bool remote) const {
    const Played& epoch = epochs_[at(rank)][index];
    if (!remote || epoch.kind != EpochKind::access) return epoch.complete;
    bool own = true;
    for (std::size_t i = 0; i < epoch.group.size(); ++i) {
      own = own && (epoch.group[i] != rank || epoch.met[i]);
    }
    return epoch.active && own;
  }
  void open(int rank, Played epoch) {
    epoch.met.resize(epoch.group.size());
    epochs_[at(rank)].push_back(std::move(epoch));
  }
  void run_until_idle() {
    while (round()) {
    }
  }
  const std::deque<Played>& epochs(int rank) const { return epochs_[at(rank)]; }

 private:
  bool round() {
    bool moved = false;
    for (std::size_t rank = 0; rank < epochs_.size(); ++rank) {
      for (std::size_t i = 0; i < epochs_[rank].size(); ++i) moved |= advance(rank, i);
    }
    return moved;
  }
  bool advance(std::size_t rank, std::size_t index) {
    Played& epoch = epochs_[rank][index];
    if (epoch.complete) return false;
    bool moved = false;
    if (!epoch.active) {
      for (std::size_t i = 0; i < index; ++i) {
        const Played& earlier = epochs_[rank][i];
        if (!earlier.complete && !may_overlap(earlier.kind, epoch.kind, keys_)) return false;
      }
      epoch.active = moved = true;
    }
    bool all = true;
    for (std::size_t i = 0; i < epoch.group.size(); ++i) {
      if (!epoch.met[i] && meets(static_cast<int>(rank), index, i)) epoch.met[i] = moved = true;
      all = all && epoch.met[i];
    }
    epoch.complete = all;
    return moved || all;
  }
  bool meets(int rank, std::size_t index, std::size_t place) const {
    const Played& epoch = epochs_[at(rank)][index];
    const int peer = epoch.group[place];
    const bool access = epoch.kind == EpochKind::access;
    if (access && epoch.empty[place]) return true;
    // Its number among ours of the kind with this peer, and the peer's epoch of that number.
    int number = 0;
    for (std::size_t i = 0; i <= index; ++i) number += names(rank, i, epoch.kind, peer) >= 0;
    const EpochKind other = access ? EpochKind::exposure : EpochKind::access;
    for (std::size_t i = 0; i < epochs_[at(peer)].size(); ++i) {
      const int found = names(peer, i, other, rank);
      if (found < 0 || --number != 0) continue;
      const Played& partner = epochs_[at(peer)][i];
      return access ? partner.active : partner.met[at(found)];
    }
    return false;
  }
  /// The place of `peer` in the group of an epoch of that kind, or -1.
  int names(int rank, std::size_t index, EpochKind kind, int peer) const {
    const Played& epoch = epochs_[at(rank)][index];
    if (epoch.kind != kind) return -1;
    for (std::size_t i = 0; i < epoch.group.size(); ++i) {
      if (epoch.group[i] == peer) return static_cast<int>(i);
    }
    return -1;
  }

  Reorder keys_;
  std::vector<std::deque<Played>> epochs_;
};

/// The same epochs on a real window. Every put of an origin goes to a word of its own.
class RealWindow {
 public:
  RealWindow(const std::vector<int>& nodes, Reorder keys)
      : job_(nodes), posted_(nodes.size()), values_(nodes.size()) {
    SimWindowSpec spec;
    spec.bytes = nodes.size() * epochs_per_rank * sizeof(std::uint64_t);
    spec.reorder = keys;
    job_.create_window(spec);
  }

  void open(int rank, const Played& epoch) {
    Window& window = job_.window(rank);
    PostedCall& posted = posted_[at(rank)].emplace_back();
    const auto number = static_cast<int>(posted_[at(rank)].size()) - 1;
    if (epoch.kind == EpochKind::exposure) {
      ASSERT_EQ(window.epochs().post(epoch.group, {}), Error::none);
      posted.take(window.epochs().wait(&posted));
      return;
    }
    ASSERT_EQ(window.epochs().start(epoch.group, {}), Error::none);
    const std::uint64_t& value = values_[at(rank)].emplace_back(number + 1);
    for (std::size_t i = 0; i < epoch.group.size(); ++i) {
      if (epoch.empty[i]) continue;
      issue(window, on_word(OperationKind::put, &value, epoch.group[i], place(rank, number)));
    }
    posted.take(window.epochs().complete(&posted));
  }
  void sweep(int rank) { job_.process(rank).sweep(); }
  void run_until_idle() { job_.run_until_idle(); }
  bool complete(int rank, std::size_t index) const { return posted_[at(rank)][index].done(); }
  bool arrived(int origin, int number, int target) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(target) + place(origin, number), sizeof value);
    return value != 0;
  }

 private:
  static std::int64_t place(int origin, int number) {
    return (origin * epochs_per_rank + number) * std::int64_t{sizeof(std::uint64_t)};
  }

  SimJob job_;
  std::vector<std::deque<PostedCall>> posted_;
  std::vector<std::deque<std::uint64_t>> values_;
};

void compare(const NaiveMatcher& naive, RealWindow& real, int ranks, bool remote) {
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < naive.epochs(rank).size(); ++i) {
      const Played& epoch = naive.epochs(rank)[i];
      ASSERT_EQ(real.complete(rank, i), naive.told(rank, i, remote))
          << "rank " << rank << " epoch " << i;
      for (std::size_t k = 0; epoch.kind == EpochKind::access && k < epoch.group.size(); ++k) {
        ASSERT_EQ(real.arrived(rank, static_cast<int>(i), epoch.group[k]),
                  epoch.met[k] && !epoch.empty[k])
            << "rank " << rank << " epoch " << i << " target " << epoch.group[k];
      }
    }
  }
}

Played random_epoch(Random& random, int ranks) {
  Played epoch;
  epoch.kind = random.chance(50) ? EpochKind::access : EpochKind::exposure;
  for (int peer = 0; peer < ranks; ++peer) {
    if (!random.chance(45)) continue;
    epoch.group.push_back(peer);
  }
  random.shuffle(epoch.group);
  for (std::size_t i = 0; i < epoch.group.size(); ++i) epoch.empty.push_back(random.chance(20));
  return epoch;
}

class Matching : public ::testing::TestWithParam<bool> {};

TEST_P(Matching, AgreesWithANaiveMatcher) {
  const Seeds seeds = Seeds::from_environment(300);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    Random random(seed);
    const int ranks = random.between(2, 5);
    const Reorder keys = keys_of(random.chance(30) ? 0 : static_cast<unsigned>(random.below(16)));
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks; ++rank) nodes.push_back(GetParam() ? 0 : rank);
    SCOPED_TRACE("replay with ORIEL_SEED=" + std::to_string(seed));
    NaiveMatcher naive(ranks, keys);
    RealWindow real(nodes, keys);
    std::vector<int> left(at(ranks), epochs_per_rank);
    for (int step = 0; step < 2 * ranks * epochs_per_rank; ++step) {
      const int rank = random.below(ranks);
      if (random.chance(30)) real.sweep(rank);
      if (left[at(rank)] == 0) continue;
      --left[at(rank)];
      const Played epoch = random_epoch(random, ranks);
      naive.open(rank, epoch);
      real.open(rank, epoch);
      if (!random.chance(20)) continue;
      naive.run_until_idle();
      real.run_until_idle();
      compare(naive, real, ranks, !GetParam());
      if (HasFatalFailure()) return;
    }
    naive.run_until_idle();
    real.run_until_idle();
    compare(naive, real, ranks, !GetParam());
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Peers, Matching, ::testing::Values(true, false),
                         [](const auto& one) { return one.param ? "Mapped" : "Remote"; });

}  // namespace
}  // namespace oriel::test
