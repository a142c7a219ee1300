// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/bcast.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include "core/collective/schedules/buffers_together.hpp"
#include "core/collective/schedules/node_tree.hpp"
#include "core/collective/schedules/pieces.hpp"

namespace oriel {
namespace {

/// Each piece has words of its own at its receiver, and each further piece saves less time.
constexpr std::uint64_t most_pieces = 64;

}  // namespace

MadeSchedule bcast(const NodeMap& node_map, int root, const Buffer& buffer, const Limits& limits) {
  MadeSchedule made;
  Schedule& schedule = made.schedule;
  schedule.needs_all = node_map.nodes() > 1;
  schedule.one_way = true;
  const int home = node_map.node(root);
  const int nodes = node_map.nodes();
  const int node = node_map.node();
  const auto leader = [&](int of) { return of == home ? root : node_map.members(of).front(); };
  const std::uint64_t bytes = bytes_in(buffer);
  const Pieces pieces(bytes, std::clamp<std::uint64_t>(
                                 (bytes + limits.fragment - 1) / limits.fragment, 1, most_pieces));
  if (node_map.rank() != leader(node)) {
    // On the root's node all data are available at once, so they are one message.
    const Pieces here(bytes, node == home ? 1 : pieces.number());
    for (std::uint64_t i = 0; i < here.number(); ++i) {
      schedule.receives.push_back({leader(node), Stretch(buffer, here.first(i), here.bytes(i)), 0});
    }
    return made;
  }
  const NodeTree tree(nodes, pieces.number());
  const int place = (node - home + nodes) % nodes;
  const auto node_at = [&](int other) { return (home + other) % nodes; };
  const std::vector<int> children = tree.children(place);
  for (std::uint64_t i = 0; i < pieces.number(); ++i) {
    const Stretch piece(buffer, pieces.first(i), pieces.bytes(i));
    int step = 0;
    if (place != 0) {
      step = static_cast<int>(i);
      schedule.receives.push_back({leader(node_at(tree.parent(place))), piece, step});
      ++step;
    }
    // The child with the largest subtree first, because its data have the longest way.
    for (const int child : children | std::views::reverse) {
      schedule.sends.push_back({leader(node_at(child)), piece, step});
    }
    if (place == 0) continue;
    for (const int other : node_map.members(node)) {
      if (other != node_map.rank()) schedule.sends.push_back({other, piece, step});
    }
  }
  if (place != 0) return made;
  for (const int other : node_map.members(node)) {
    if (other != node_map.rank()) schedule.sends.push_back({other, buffer, 0});
  }
  return made;
}

}  // namespace oriel
