// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/plan_window.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedules/made_schedule.hpp"

namespace oriel::boundary {

/// Makes the plan of an alltoallv that gathers short blocks between nodes. All ranks call this,
/// after they have made the plan of the same alltoallv without gathering, which has checked that
/// sends and receives match. The ranks first exchange the lengths, by a plan that is used once.
///
/// `made`: the schedule; its memory must live as long as the plan.
int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan);

}  // namespace oriel::boundary
