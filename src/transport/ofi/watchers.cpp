// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/watchers.hpp"

#include <unordered_map>

namespace oriel {

Watchers::Watchers(std::span<const std::uint64_t> nodes) {
  std::unordered_map<std::uint64_t, std::size_t> numbers;
  places_.reserve(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const std::size_t node = numbers.try_emplace(nodes[rank], nodes_.size()).first->second;
    if (node == nodes_.size()) nodes_.emplace_back();
    places_.push_back({node, nodes_[node].size()});
    nodes_[node].push_back(static_cast<int>(rank));
  }
}

std::vector<int> Watchers::watched_by(int rank) const {
  const Place place = places_[static_cast<std::size_t>(rank)];
  const std::vector<int>& own = nodes_[place.node];
  std::vector<int> watched;
  for (std::size_t distance = 1; distance < nodes_.size(); distance *= 2) {
    const std::vector<int>& node = nodes_[(place.node + distance) % nodes_.size()];
    if (place.number < node.size()) watched.push_back(node[place.number]);
  }
  for (std::size_t distance = 1; distance < own.size(); distance *= 2) {
    watched.push_back(own[(place.number + distance) % own.size()]);
  }
  return watched;
}

}  // namespace oriel
