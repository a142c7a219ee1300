// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// Sends the root's buffer to all ranks. A tree connects one rank of each node (on the root's node,
/// the root), which also sends to the other ranks of its node. A long message goes through the tree
/// in pieces, each forwarded when it has arrived.
MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits);

/// The contiguous vector of each rank.
struct Vectors {
  const void* from = nullptr;
  void* into = nullptr;  // on the root; in place equal to `from`
  std::uint64_t count = 0;
  Reduction reduction;
  std::shared_ptr<OwnOp> own_op;  // instead of `reduction`, whose `element` is its elements' length
};

/// Returns whether the result may depend on the order in which values are combined.
bool order_matters(const Reduction& reduction);

/// Combines the vectors of all ranks element by element; the root gets the result. Long vectors are
/// cut into slices, which are distributed among the ranks of each node. The rank that has a slice
/// receives it from the other ranks of its node, combines them, and sends the result to the rank of
/// another node that has this slice.
///
/// If the order does not matter, the nodes form a tree. If it matters, and for every own op, rank r
/// combines its value with those of ranks r + 1, r + 2, r + 4, ..., below its own lowest bit,
/// whatever their nodes: the result has the same bits for every root, every placement and every
/// use.
MadeSchedule reduce(const NodeMap& node_map, int root, const Vectors& vectors,
                    const Limits& limits);

}  // namespace oriel
