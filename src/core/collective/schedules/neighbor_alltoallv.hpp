// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/made_schedule.hpp"

namespace oriel {

/// What goes along one edge of a virtual topology. An edge leads from a rank to a rank, perhaps the
/// same, perhaps beside others; a rank below 0 is nobody.
struct Edge {
  int rank = 0;  // at its other end
  Buffer buffer;
};

/// How those edges match of which one rank has several to another one.
enum class EdgeMatching {
  graph,     // the k-th that the one lists is the k-th that the other lists
  cartesian  // what goes down in a dimension comes from above, and the other way round
};

/// Both lists as MPI orders them.
MadeSchedule neighbor_alltoallv(int rank, std::span<const Edge> sends,
                                std::span<const Edge> receives, EdgeMatching matching);

}  // namespace oriel
