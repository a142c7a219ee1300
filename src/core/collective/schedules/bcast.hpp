// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// From the root to all. Between nodes through a tree, in which each node has one rank, on the
/// root's node the root; the other ranks of a node get it from that one. What is long goes through
/// the tree in pieces, each passed on when it has come.
MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits);

}  // namespace oriel
