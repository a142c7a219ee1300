// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/block_lengths.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Whether blocks between our node and another one are gathered where they are short: where there
/// are several of them.
bool gathers(const NodeMap& node_map, int node);
/// Whether there are any such nodes. The same on all ranks.
bool gathers_anywhere(const NodeMap& node_map);

/// As alltoallw(), but for short blocks between nodes: those from one node to another one are
/// gathered by a rank of the one, sent as one message, and shared out by a rank of the other. Nodes
/// that are differently far off are looked after by different ranks, on both sides.
///
/// Its scratch memory has the blocks from our node to each node that we look after, the next one
/// first, then those from each such node, the one before us first: by their senders, and of one
/// sender by their receivers. So BlockLengths count pairs of ranks.
MadeSchedule gathered_alltoallw(const NodeMap& node_map, std::span<const Buffer> sends,
                                std::span<const Buffer> receives, const BlockLengths& lengths);

/// What is sent to a rank is what the buffer for what comes from it holds at the start.
MadeSchedule gathered_alltoallw_in_place(const NodeMap& node_map, std::span<const Buffer> buffers,
                                         const BlockLengths& lengths);

}  // namespace oriel
