// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Sends the root's buffer to all ranks. A tree connects one rank of each node (on the root's node,
/// the root), which also sends to the other ranks of its node. A long message goes through the tree
/// in pieces, each forwarded when it has arrived.
MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits);

}  // namespace oriel
