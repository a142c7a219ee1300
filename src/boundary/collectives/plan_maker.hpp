// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/plan_window.hpp"
#include "boundary/collectives/signature.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"

namespace oriel::boundary {

/// The failure of a rank that has no memory for its schedule.
inline constexpr Failure no_memory{MPI_ERR_NO_MEM,
                                   "there is no memory for what it keeps of the blocks"};

/// Makes a plan in an open plan window. All ranks call this, and all raise the same fault. `own`:
/// the fault of this rank's arguments, if any; `signature`: the values that must be equal on all
/// ranks; `terms`: the other terms of the plan.
int make_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, const Schedule& schedule,
              const Signature& signature, const Failure& own, Plan*& made, PlanTerms terms = {});

}  // namespace oriel::boundary
