// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/plan_window.hpp"
#include "mpi/collectives/signature.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The failure of a rank that has no memory for its schedule.
inline constexpr Failure no_memory{MPI_ERR_NO_MEM,
                                   "there is no memory for what it keeps of the blocks"};

/// Makes a plan in an open plan window. All ranks call this, and all raise the same fault. `own`:
/// the fault of this rank's arguments, if any; `signature`: the values that must be equal on all
/// ranks; `terms`: the other terms of the plan.
int make_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, const Schedule& schedule,
              const Signature& signature, const Failure& own, Plan*& made, PlanTerms terms = {});

/// Makes the plan of an alltoallv that gathers short blocks between nodes. All ranks call this,
/// after they have made the plan of the same alltoallv without gathering, which has checked that
/// sends and receives match. The ranks first exchange the lengths, by a plan that is used once.
///
/// `made`: the schedule; its memory must live as long as the plan.
int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan);

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

}  // namespace oriel::mpi
