// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "boundary/collectives/collective_state.hpp"
#include "boundary/collectives/collective_task.hpp"
#include "core/collective/plan.hpp"

namespace oriel::boundary {

/// A collective by a plan of the core. Each transfer notifies its receiver, and no rank waits for
/// all others.
class PlanCollective final : public CollectiveTask {
 public:
  PlanCollective(std::shared_ptr<CollectiveState> state, Plan& plan)
      : state_(std::move(state)), plan_(plan) {}

  Failure start() override;
  bool done() override { return completion_.done() && !lost_somebody(); }
  Failure outcome() const override;
  void abandon() override { plan_.abandon(); }
  bool may_start_again() const override { return completion_.done() && !lost_somebody(); }
  void let_go() override { state_->plan_window().free(plan_); }
  int lost() override { return lost_somebody() ? plan_.failure().rank : plan_.lost_peer(); }

 private:
  /// True if all transfers are over and one of them has found that its peer has ended. done() is
  /// false then, so that the next check for lost ranks, which calls lost(), reports that rank.
  bool lost_somebody() const {
    return completion_.done() && completion_.error() == Error::peer_lost;
  }

  std::shared_ptr<CollectiveState> state_;
  Plan& plan_;
  Flag completion_;
};

}  // namespace oriel::boundary
