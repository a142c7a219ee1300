// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oriel {

/// The ranks of a collective and their nodes, as seen by one of the ranks. Nodes are numbered in
/// the order of their lowest ranks.
class NodeMap {
 public:
  /// `node_of`: by rank; ranks with equal numbers share a node.
  NodeMap(int rank, std::span<const int> node_of);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int node(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  int node() const { return node(rank_); }
  /// The ranks of a node, in ascending order.
  std::span<const int> members(int node) const;
  /// The index of a rank among those of its node.
  int position(int rank) const { return position_[static_cast<std::size_t>(rank)]; }
  int position() const { return position(rank_); }
  /// The node `distance` behind `node`, cyclically; before it if `distance` is negative.
  int behind(int node, int distance) const { return (node + distance + nodes()) % nodes(); }
  /// The rank of `node` that serves the nodes `distance` away, that is, sends to one and receives
  /// from the other. The ranks of a node share the distances, beginning with the rank at index
  /// `place`.
  int gateway(int node, int distance, int place = 0) const;

 private:
  int rank_;
  std::vector<int> node_of_;
  std::vector<int> position_;
  std::vector<int> members_;  // node by node
  std::vector<int> first_;    // index of a node's first entry in members_
};

}  // namespace oriel
