// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/collective/plan_registry.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "support/random.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

/// Ranks that make some plans, use each some times at their own pace, and free them: Players of
/// players.hpp. `Drawn` has the limits and the number of uses, and draw(ranks, random): a
/// collective by chance, with a name() and for each rank a part(placement). A part has a
/// schedule(), and for each use fill(use) before it, check(use) after it and spoil() after that.
template <typename Drawn>
class PlanPlayers {
 public:
  static constexpr std::size_t plans = 3;

  PlanPlayers(const std::vector<int>& nodes, Random& random, bool threads)
      : job_(nodes, threads, Drawn::limits()), ranks_(nodes.size()) {
    SimWindowSpec spec;
    spec.bytes = 64;
    spec.direct = random.chance(50);
    if (!threads) job_.network().set_writes(random.pick(SimNetwork::all_writes));
    if (random.chance(50)) {
      job_.network().set_congesting(static_cast<std::size_t>(random.between(1, 3)));
    }
    job_.create_window(spec);
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      if (random.chance(50)) leave_pipelines_out(job_.window(rank).plan_registry());
    }
    for (std::size_t plan = 0; plan < plans; ++plan) {
      collectives_.push_back(Drawn::draw(job_.ranks(), random));
      for (int rank = 0; rank < job_.ranks(); ++rank) {
        ranks_[at(rank)].uses[plan].part = collectives_.back()->part(NodeMap(rank, nodes));
      }
    }
  }

  SimJob& job() { return job_; }
  bool over(int rank) const { return ranks_[at(rank)].freed == plans; }
  bool over() const {
    return std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.freed == plans; });
  }

  /// One step of a rank's program: of those that it could take, one by chance. False: none.
  bool act(int number, Random& random) {
    Rank& rank = ranks_[at(number)];
    PlanRegistry& space = job_.window(number).plan_registry();
    if (over(number)) return false;
    if (rank.making != nullptr) {
      if (!rank.making->advance_making()) return false;
      const PlanFault& fault = rank.making->fault();
      EXPECT_FALSE(fault) << collectives_[rank.made]->name() << ": " << static_cast<int>(fault.kind)
                          << " from " << fault.sender << " to " << fault.receiver << ", "
                          << fault.sent << " bytes for " << fault.space;
      rank.uses[rank.made++].plan = std::exchange(rank.making, nullptr);
      return true;
    }
    if (rank.made < plans && (rank.made == rank.freed || random.chance(10))) {
      rank.making = &space.make(rank.uses[rank.made].part->schedule());
      return true;
    }
    if (rank.made == 0) return false;
    const std::size_t chosen = at(random.below(static_cast<int>(rank.made)));
    Use& one = rank.uses[chosen];
    if (one.plan == nullptr || one.plan->active()) return false;
    if (one.use != one.checked) {
      EXPECT_TRUE(one.completion.done());
      EXPECT_EQ(one.completion.error(), Error::none);
      EXPECT_TRUE(one.part->check(one.use))
          << collectives_[chosen]->name() << " on rank " << number << ", use " << one.use;
      one.part->spoil();
      one.checked = one.use;
      return true;
    }
    if (one.use == Drawn::uses) {
      space.free(*one.plan);
      one.plan = nullptr;
      ++rank.freed;
      return true;
    }
    one.part->fill(++one.use);
    one.completion = Flag();
    one.plan->start(one.completion);
    return true;
  }

 private:
  using Collective = decltype(Drawn::draw(0, std::declval<Random&>()));
  using Part = decltype(std::declval<Collective>()->part(std::declval<const NodeMap&>()));

  struct Use {
    Part part;
    Plan* plan = nullptr;
    std::uint64_t use = 0;
    std::uint64_t checked = 0;
    Flag completion;
  };
  struct Rank {
    std::array<Use, plans> uses;
    Plan* making = nullptr;
    std::size_t made = 0;
    std::size_t freed = 0;
  };

  /// Ranks need not agree on it.
  static void leave_pipelines_out(PlanRegistry& space) {
    const Limits& limits = space.limits();
    space.set_copies({limits.staged, limits.shared_fragment, false});
  }
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  SimJob job_;
  std::vector<Collective> collectives_;
  std::vector<Rank> ranks_;
};

}  // namespace oriel::test
