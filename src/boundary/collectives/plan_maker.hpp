// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/plan_window.hpp"
#include "boundary/collectives/signature.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"

namespace oriel::boundary {

/// Of a rank that cannot make its schedule.
inline constexpr Failure no_memory{MPI_ERR_NO_MEM,
                                   "there is no memory for what it keeps of the blocks"};

/// Makes a plan in an open plan window: all ranks come here, and all raise the same fault. `own`:
/// what is wrong with this rank's arguments; `signature`: what all ranks must have the same;
/// `terms`: what else they agree on.
int make_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, const Schedule& schedule,
              const Signature& signature, const Failure& own, Plan*& made, PlanTerms terms = {});

}  // namespace oriel::boundary
