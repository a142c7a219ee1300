// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/collective_room.hpp"
#include "boundary/collectives/topic.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"

namespace oriel::boundary {

/// Of a rank that cannot make its schedule.
inline constexpr Failure no_memory{MPI_ERR_NO_MEM,
                                   "there is no memory for what it keeps of the blocks"};

/// Makes a plan in an open room: all ranks come here, and all raise the same fault. `own`: what is
/// wrong with this rank's arguments; `topic`: what all ranks must have the same; `terms`: what else
/// is settled.
int make_plan(const char* call, MPI_Comm communicator, CollectiveRoom& room,
              const Schedule& schedule, const Topic& topic, const Failure& own, Plan*& made,
              PlanTerms terms = {});

}  // namespace oriel::boundary
