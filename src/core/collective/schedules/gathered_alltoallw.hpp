// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/collective/schedules/block_lengths.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Returns whether short blocks between our node and `node` are gathered: if one of the two nodes
/// has several ranks.
bool gathers(const NodeMap& node_map, int node);
/// Returns whether blocks of any two nodes are gathered, which is the same on all ranks.
bool gathers_anywhere(const NodeMap& node_map);

/// As alltoallw(), except for short blocks between nodes. Those from one node to another are
/// gathered by one rank of the sending node, sent in one message, and distributed by one rank of
/// the receiving node. The ranks of a node share the other nodes by their distance, as senders and
/// as receivers.
///
/// Its scratch memory has first the blocks from our node to each node that this rank serves,
/// beginning with the next node, then the blocks from each such node, beginning with the previous
/// node. The blocks of a pair of nodes are ordered by sender, then by receiver. BlockLengths
/// numbers pairs of ranks in this order.
MadeSchedule gathered_alltoallw(const NodeMap& node_map, std::span<const Buffer> sends,
                                std::span<const Buffer> receives, const BlockLengths& lengths);

/// As gathered_alltoallw(); the data sent to a rank are those of its receive buffer at the start.
MadeSchedule gathered_alltoallw_in_place(const NodeMap& node_map, std::span<const Buffer> buffers,
                                         const BlockLengths& lengths);

}  // namespace oriel
