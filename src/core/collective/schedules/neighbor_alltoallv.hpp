// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/made_schedule.hpp"

namespace oriel {

/// One edge of a virtual topology and its buffer. The edge may lead to this rank itself, and
/// several edges may lead to one rank. A negative rank is MPI_PROC_NULL.
struct Edge {
  int rank = 0;  // at its other end
  Buffer buffer;
};

/// How several edges from one rank to another are matched.
enum class EdgeMatching {
  graph,     // the k-th edge that the sender lists matches the k-th that the receiver lists
  cartesian  // data sent down in a dimension are received from above, and vice versa
};

/// Makes the schedule of edges in MPI's order.
MadeSchedule neighbor_alltoallv(int rank, std::span<const Edge> sends,
                                std::span<const Edge> receives, EdgeMatching matching);

}  // namespace oriel
