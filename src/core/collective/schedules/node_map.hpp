// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oriel {

/// The ranks of a collective as seen by one of them, and which of them share a node. Nodes are
/// numbered by their lowest ranks.
class NodeMap {
 public:
  /// `node_of`: by rank, the same number for those that share a node.
  NodeMap(int rank, std::span<const int> node_of);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int node(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  int node() const { return node(rank_); }
  /// The ranks of a node, in their order.
  std::span<const int> members(int node) const;
  /// The place of a rank among those of its node.
  int position(int rank) const { return position_[static_cast<std::size_t>(rank)]; }
  int position() const { return position(rank_); }
  /// The node so far behind another one; in front of it: below 0.
  int behind(int node, int distance) const { return (node + distance + nodes()) % nodes(); }
  /// Who of a node looks after what goes to a node so far off, or comes from there: the ranks of a
  /// node share it, beginning with the one at `place`.
  int gateway(int node, int distance, int place = 0) const;

 private:
  int rank_;
  std::vector<int> node_of_;
  std::vector<int> position_;
  std::vector<int> members_;  // node by node
  std::vector<int> first_;    // of them, by node
};

}  // namespace oriel
