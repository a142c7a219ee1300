// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/base/limits.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel {

/// Own block to all, who have a buffer for each, by rank. Each block goes to each other node once,
/// to one rank there, which hands it on: where a node's blocks are short they go in one message,
/// from one of its ranks; each long one goes from its own. Nodes that are differently far apart are
/// looked after by different ranks, on both sides.
///
/// `own`: without a layout, our block is where we receive it.
MadeSchedule allgatherv(const NodeMap& node_map, const Buffer& own, std::span<const Buffer> blocks,
                        const Limits& limits);

}  // namespace oriel
