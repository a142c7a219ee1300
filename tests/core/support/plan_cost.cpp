// SPDX-License-Identifier: BSD-3-Clause
#include "support/plan_cost.hpp"

#include <vector>

#include "core/collective/board.hpp"
#include "core/collective/mapped_lanes.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/remote_lanes.hpp"

namespace oriel::test {
namespace {

std::uint64_t pieces(std::uint64_t bytes, std::uint64_t each) {
  return (bytes + each - 1) / each;
}

/// As a program's memory is.
constexpr bool buffers_shared = false;

/// Both sides are alike, as far as one can tell.
bool goes_by_cells(const CellShape& cells, const Packed& packed) {
  return cells.wanted || packed.run() == nullptr;
}

}  // namespace

PlanCost cost_of(const Schedule& schedule, const NodeMap& node_map, const Limits& limits) {
  PlanCost cost;
  const auto ranks = static_cast<std::size_t>(node_map.ranks());
  std::vector<bool> hears(ranks);  // by a short message at the start
  std::vector<bool> tells(ranks);
  CellDemand demand(limits, node_map.members(node_map.node()).size());
  for (const Schedule::Receive& receive : schedule.receives) {
    const bool here = node_map.node(receive.from) == node_map.node();
    if (here) demand.add(Packed(receive.into).bytes(), buffers_shared);
  }
  const CellShapes shapes(
      demand, schedule.one_way ? CellShapes::Number::one_way : CellShapes::Number::usual);
  const auto cells_of = [&](const Packed& packed) {
    return shapes.of(packed.bytes(), packed.run() != nullptr, buffers_shared);
  };
  for (const Schedule::Send& send : schedule.sends) {
    const Packed packed(send.from);
    const std::uint64_t bytes = packed.bytes();
    const bool here = node_map.node(send.to) == node_map.node();
    cost.own_bytes += here ? MappedLanes::bytes_of_send() : RemoteLanes::bytes_of_send();
    if (bytes == 0) continue;
    if (here) {
      ++cost.sends_here;
      const CellShape cells = cells_of(packed);
      if (goes_by_cells(cells, packed)) {
        cost.stores += pieces(bytes, cells.space);
      } else {
        ++cost.atomics;
      }
      continue;
    }
    ++cost.sends_there;
    if (bytes <= limits.eager && send.step == 0) hears[static_cast<std::size_t>(send.to)] = true;
    if (bytes <= limits.eager) {
      ++cost.messages;
    } else if (packed.run() != nullptr) {
      ++cost.writes;
      ++cost.messages;
    } else {
      cost.messages += pieces(bytes, limits.fragment);
    }
  }
  std::uint64_t lanes = 0;
  for (const Schedule::Receive& receive : schedule.receives) {
    const Packed packed(receive.into);
    const std::uint64_t bytes = packed.bytes();
    const bool here = node_map.node(receive.from) == node_map.node();
    cost.own_bytes += here ? MappedLanes::bytes_of_receive() : RemoteLanes::bytes_of_receive();
    if (here) ++lanes;
    if (bytes == 0) continue;
    if (here) {
      ++cost.receives_here;
      const CellShape cells = cells_of(packed);
      cost.board_bytes += Lane::bytes(cells);
      cost.cell_bytes += Lane::bytes(cells) - sizeof(Lane);
      if (goes_by_cells(cells, packed)) {
        cost.stores += pieces(bytes, cells.space);
      } else {
        cost.atomics += 1 + 2 * pieces(bytes, limits.shared_fragment);
      }
      continue;
    }
    ++cost.receives_there;
    ++cost.making_messages;
    if (bytes <= limits.eager) cost.early_bytes += bytes;
    tells[static_cast<std::size_t>(receive.from)] = true;
  }
  if (lanes != 0) cost.board_bytes += Board::first_lane(lanes);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (tells[rank] && !hears[rank]) ++cost.messages;
  }
  // Two rounds of words from each to each.
  cost.making_messages += 2 * (ranks - node_map.members(node_map.node()).size());
  return cost;
}

}  // namespace oriel::test
