// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel::test {

/// What one rank's plan takes: what docs/protocols.md has formulas for. Of transfers between ranks
/// of a node, each rank counts its side.
struct PlanCost {
  // Transfers, as the schedule has them, of some bytes.
  std::uint64_t sends_here = 0;  // to ranks of its node
  std::uint64_t sends_there = 0;
  std::uint64_t receives_here = 0;
  std::uint64_t receives_there = 0;

  // Memory.
  std::uint64_t board_bytes = 0;  // which peers map, with the cells
  std::uint64_t cell_bytes = 0;   // of these
  std::uint64_t early_bytes =
      0;                        // short messages of other nodes that come before their use, at most
  std::uint64_t own_bytes = 0;  // what the lanes keep of each transfer

  // Messages that it sends to other nodes.
  std::uint64_t making_messages = 0;
  std::uint64_t messages = 0;  // in each use
  std::uint64_t writes = 0;    // direct ones, likewise

  // Words that peers of the node read, in each use.
  std::uint64_t stores = 0;   // with release
  std::uint64_t atomics = 0;  // read, changed and written; pieces count where they are received
};

/// Of a plan where those of a node are mapped and no others, and where as much is sent as there is
/// space for.
PlanCost cost_of(const Schedule& schedule, const NodeMap& node_map, const Limits& limits);

}  // namespace oriel::test
