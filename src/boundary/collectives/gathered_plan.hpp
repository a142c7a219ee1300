// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/plan_window.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedules/made_schedule.hpp"

namespace oriel::boundary {

/// The plan of an alltoallv that gathers short blocks between nodes, where a plan of the same
/// without that was made before: so what ranks send one another fits. All ranks come here. First
/// they learn the lengths, by a plan that is used once.
///
/// `made`: what its memory is in.
int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan);

}  // namespace oriel::boundary
