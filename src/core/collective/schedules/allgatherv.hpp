// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/base/limits.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Sends each rank's block to all ranks, which have a buffer for each block, by rank. Each block is
/// sent to each other node once, to one rank there, which forwards it on its node. If the blocks
/// of a node are short in total, one of its ranks sends them in one message; otherwise each rank
/// sends its own block. NodeMap::gateway() selects the ranks that send or receive for their nodes,
/// by the distance between the nodes.
///
/// `own`: without a layout, our block is already in its place in `blocks`.
MadeSchedule allgatherv(const NodeMap& node_map, const Buffer& own, std::span<const Buffer> blocks,
                        const Limits& limits);

}  // namespace oriel
