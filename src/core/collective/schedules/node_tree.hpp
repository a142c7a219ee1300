// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace oriel {

/// A tree of numbers from 0, its root, on: of nodes, counted from that of a root on. A message that
/// is one piece goes by a binomial tree, which has the fewest steps. Of several pieces each is
/// under way while the next one begins: then it matters how many a node passes on, and after that
/// how deep the tree is.
class NodeTree {
 public:
  NodeTree(int nodes, std::uint64_t pieces) : nodes_(nodes), shape_(choose(nodes, pieces)) {}

  /// -1: of the root.
  int parent(int node) const;
  /// Those with the smallest trees below them first.
  std::vector<int> children(int node) const;

 private:
  enum class Shape : std::uint8_t { binomial, binary, chain };

  // The last piece arrives after nodes + pieces - 2 times of one in a chain; in a binary tree after
  // two times as many as its depth and the pieces.
  static Shape choose(int nodes, std::uint64_t pieces) {
    if (pieces <= 1) return Shape::binomial;
    return static_cast<std::uint64_t>(nodes) <= pieces ? Shape::chain : Shape::binary;
  }

  int nodes_;
  Shape shape_;
};

}  // namespace oriel
