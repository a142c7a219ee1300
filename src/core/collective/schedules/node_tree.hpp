// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace oriel {

/// A tree of the numbers from 0, its root, to nodes - 1, where number i is the i-th node behind the
/// root's. A message of one piece uses a binomial tree, which has the fewest steps. With several
/// pieces, a node forwards one piece while the next one arrives: then the number of children
/// matters most, and after it the depth.
class NodeTree {
 public:
  NodeTree(int nodes, std::uint64_t pieces) : nodes_(nodes), shape_(choose(nodes, pieces)) {}

  /// The parent; -1 for the root.
  int parent(int node) const;
  /// The children in ascending order of the sizes of their subtrees.
  std::vector<int> children(int node) const;

 private:
  enum class Shape : std::uint8_t { binomial, binary, chain };

  // In a chain the last piece arrives after nodes + pieces - 2 times of one piece; in a binary tree
  // after 2 * (depth + pieces).
  static Shape choose(int nodes, std::uint64_t pieces) {
    if (pieces <= 1) return Shape::binomial;
    return static_cast<std::uint64_t>(nodes) <= pieces ? Shape::chain : Shape::binary;
  }

  int nodes_;
  Shape shape_;
};

}  // namespace oriel
