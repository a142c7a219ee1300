// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/limits.hpp"
#include "core/collective/own_op.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// A vector of each rank, in a row.
struct Vectors {
  const void* from = nullptr;
  void* into = nullptr;  // the root's; in place it is `from`
  std::uint64_t count = 0;
  Reduction reduction;
  std::shared_ptr<OwnOp> own_op;  // instead of it, on elements of its length
};

/// Whether the result may depend on which values are combined first.
bool order_matters(const Reduction& reduction);

/// The vectors of all ranks, combined element by element, to the root. The vectors are cut into
/// slices where they are long, shared out among the ranks of each node; the one that has a slice
/// there gets it from the others of the node, combines them, and what it has goes on to its fellow
/// of another node.
///
/// Where the order does not matter the nodes are a tree. Where it does, and with every own op, rank
/// r takes what the ranks r + 1, r + 2, r + 4, ... have, up to its own lowest bit, on whatever
/// nodes they are: the same bits for every root, every placement and every use.
MadeSchedule reduce(const NodeMap& node_map, int root, const Vectors& vectors,
                    const Limits& limits);

}  // namespace oriel
