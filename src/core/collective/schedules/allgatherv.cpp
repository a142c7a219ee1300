// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/schedules.hpp"

#include <algorithm>
#include <vector>

#include "core/collective/schedule.hpp"

namespace oriel {
namespace {

/// A message that a rank receives from another node: one block, or all blocks of that node.
struct Arrival {
  int from = 0;
  Buffer buffer;
};

class Gathering {
 public:
  Gathering(const NodeMap& node_map, const Buffer& own, std::span<const Buffer> blocks,
            const Limits& limits)
      : node_map_(node_map),
        own_(own.layout ? own : block(blocks, node_map.rank())),
        in_place_(!own.layout),
        blocks_(blocks),
        limits_(limits) {}

  MadeSchedule make() {
    if (!in_place_) schedule_.copies.push_back({own_, block(blocks_, node_map_.rank()), 0});
    send_to_own_node();
    send_to_other_nodes();
    hand_on();
    std::ranges::stable_sort(schedule_.sends, {}, &Schedule::Send::step);
    MadeSchedule made;
    made.schedule = std::move(schedule_);
    return made;
  }

 private:
  static const Buffer& block(std::span<const Buffer> blocks, int rank) {
    return blocks[static_cast<std::size_t>(rank)];
  }
  int nodes() const { return node_map_.nodes(); }
  bool short_blocks(int node) const {
    const std::span<const int> members = node_map_.members(node);
    std::uint64_t bytes = 0;
    for (const int rank : members) bytes += bytes_in(block(blocks_, rank));
    return members.size() > 1 && bytes <= limits_.eager;
  }

  void send_to_own_node() {
    const std::span<const int> here = node_map_.members(node_map_.node());
    const std::size_t count = here.size();
    for (std::size_t distance = 1; distance < count; ++distance) {
      const auto position = static_cast<std::size_t>(node_map_.position());
      const int to = here[(position + distance) % count];
      const int from = here[(position + count - distance) % count];
      schedule_.sends.push_back({to, own_, 0});
      schedule_.receives.push_back({from, block(blocks_, from), 0});
    }
  }

  void send_to_other_nodes() {
    const int here = node_map_.node();
    const bool together_sent = short_blocks(here);
    const Buffer all = together_sent ? together(blocks_, node_map_.members(here)) : Buffer();
    for (int distance = 1; distance < nodes(); ++distance) {
      const int there = node_map_.behind(here, distance);
      if (!together_sent) {
        schedule_.sends.push_back(
            {node_map_.gateway(there, distance, node_map_.position()), own_, 0});
      } else if (node_map_.gateway(here, distance) == node_map_.rank()) {
        schedule_.sends.push_back({node_map_.gateway(there, distance), all, 1});
      }
    }
  }

  /// The messages from other nodes to a rank of our node, in the order in which it forwards them.
  std::vector<Arrival> arrivals(int rank) const {
    std::vector<Arrival> found;
    const int here = node_map_.node();
    for (int distance = 1; distance < nodes(); ++distance) {
      const int there = node_map_.behind(here, -distance);
      if (short_blocks(there)) {
        if (node_map_.gateway(here, distance) != rank) continue;
        found.push_back(
            {node_map_.gateway(there, distance), together(blocks_, node_map_.members(there))});
        continue;
      }
      for (const int from : node_map_.members(there)) {
        if (node_map_.gateway(here, distance, node_map_.position(from)) != rank) continue;
        found.push_back({from, block(blocks_, from)});
      }
    }
    return found;
  }

  /// Forwards the messages from other nodes in the order of their arrivals() list, after this
  /// rank's own sends to its node, for which other ranks may wait.
  void hand_on() {
    const std::span<const int> here = node_map_.members(node_map_.node());
    int step = 1;
    for (const Arrival& arrival : arrivals(node_map_.rank())) {
      schedule_.receives.push_back({arrival.from, arrival.buffer, step});
      ++step;
      for (const int to : here) {
        if (to != node_map_.rank()) schedule_.sends.push_back({to, arrival.buffer, step});
      }
    }
    for (const int from : here) {
      if (from == node_map_.rank()) continue;
      for (const Arrival& arrival : arrivals(from)) {
        schedule_.receives.push_back({from, arrival.buffer, step});
      }
    }
  }

  const NodeMap& node_map_;
  Buffer own_;
  bool in_place_;
  std::span<const Buffer> blocks_;
  const Limits& limits_;
  Schedule schedule_;
};

}  // namespace

MadeSchedule allgatherv(const NodeMap& node_map, const Buffer& own, std::span<const Buffer> blocks,
                        const Limits& limits) {
  MadeSchedule made = Gathering(node_map, own, blocks, limits).make();
  made.schedule.needs_all = node_map.nodes() > 1;
  return made;
}

}  // namespace oriel
