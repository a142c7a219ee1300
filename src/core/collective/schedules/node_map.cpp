// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/node_map.hpp"

#include <unordered_map>

namespace oriel {

NodeMap::NodeMap(int rank, std::span<const int> node_of)
    : rank_(rank), node_of_(node_of.size()), position_(node_of.size()), members_(node_of.size()) {
  std::unordered_map<int, int> numbers;
  std::vector<int> sizes;
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    const int node = numbers.try_emplace(node_of[i], static_cast<int>(sizes.size())).first->second;
    if (static_cast<std::size_t>(node) == sizes.size()) sizes.push_back(0);
    node_of_[i] = node;
    position_[i] = sizes[static_cast<std::size_t>(node)]++;
  }
  first_.push_back(0);
  for (const int size : sizes) first_.push_back(first_.back() + size);
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    const int place = first_[static_cast<std::size_t>(node_of_[i])] + position_[i];
    members_[static_cast<std::size_t>(place)] = static_cast<int>(i);
  }
}

std::span<const int> NodeMap::members(int node) const {
  const auto at = static_cast<std::size_t>(node);
  return std::span(members_).subspan(static_cast<std::size_t>(first_[at]),
                                     static_cast<std::size_t>(first_[at + 1] - first_[at]));
}

int NodeMap::gateway(int node, int distance, int place) const {
  const std::span<const int> here = members(node);
  return here[static_cast<std::size_t>(place + distance - 1) % here.size()];
}

}  // namespace oriel
