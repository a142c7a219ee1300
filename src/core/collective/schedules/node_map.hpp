// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

namespace oriel {

/// The ranks of a collective and their nodes, as seen by one of the ranks. Nodes are numbered in
/// the order of their lowest ranks.
class NodeMap {
 public:
  /// `node_of`: by rank; ranks with equal numbers share a node.
  NodeMap(int rank, std::span<const int> node_of)
      : rank_(rank), node_of_(node_of.size()), position_(node_of.size()), members_(node_of.size()) {
    std::unordered_map<int, int> numbers;
    std::vector<int> sizes;
    for (std::size_t i = 0; i < node_of.size(); ++i) {
      const int node =
          numbers.try_emplace(node_of[i], static_cast<int>(sizes.size())).first->second;
      if (static_cast<std::size_t>(node) == sizes.size()) sizes.push_back(0);
      node_of_[i] = node;
      position_[i] = sizes[static_cast<std::size_t>(node)]++;
    }
    first_.push_back(0);
    for (const int size : sizes) first_.push_back(first_.back() + size);
    for (std::size_t i = 0; i < node_of.size(); ++i) {
      const int position = first_[static_cast<std::size_t>(node_of_[i])] + position_[i];
      members_[static_cast<std::size_t>(position)] = static_cast<int>(i);
    }
  }

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int node(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  int node() const { return node(rank_); }
  /// The ranks of a node, in ascending order.
  std::span<const int> members(int node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(members_).subspan(static_cast<std::size_t>(first_[at]),
                                       static_cast<std::size_t>(first_[at + 1] - first_[at]));
  }
  /// The index of a rank among those of its node.
  int position(int rank) const { return position_[static_cast<std::size_t>(rank)]; }
  int position() const { return position(rank_); }
  /// The node `distance` behind `node`, cyclically; before it if `distance` is negative.
  int behind(int node, int distance) const { return (node + distance + nodes()) % nodes(); }
  /// The rank of `node` that serves the nodes `distance` away, that is, sends to one and receives
  /// from the other. The ranks of a node share the distances, beginning with the rank at index
  /// `first`.
  int gateway(int node, int distance, int first = 0) const {
    const std::span<const int> here = members(node);
    return here[static_cast<std::size_t>(first + distance - 1) % here.size()];
  }

 private:
  int rank_;
  std::vector<int> node_of_;
  std::vector<int> position_;
  std::vector<int> members_;  // node by node
  std::vector<int> first_;    // index of a node's first entry in members_
};

}  // namespace oriel
