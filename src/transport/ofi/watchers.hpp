// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace oriel {

/// The links (Lifeline) between the ranks of a window. Each rank has few, such that the end of a
/// rank, or of a whole node, is detected on other nodes, and a loss that one rank knows reaches all
/// ranks.
///
/// Nodes are numbered from 0 to m - 1, and so are the ranks of each node. Rank p of node i has
/// links to
/// - rank p of the nodes i + 1, i + 2, i + 4, ... modulo m, if they have so many ranks;
/// - ranks p + 1, p + 2, p + 4, ... of its own node, modulo the number of ranks there.
/// So rank 0 of each node is linked from ceil(log2 m) other nodes, and every rank of a node of n
/// ranks from ceil(log2 n) ranks of its own node, however different the nodes are.
class Watchers {
 public:
  /// `nodes`: a number for each rank; equal numbers mean one node.
  explicit Watchers(std::span<const std::uint64_t> nodes);

  /// The ranks to which rank `rank` has links.
  std::vector<int> watched_by(int rank) const;

 private:
  struct Place {
    std::size_t node;
    std::size_t number;  // among the ranks of the node
  };
  std::vector<Place> places_;            // by rank
  std::vector<std::vector<int>> nodes_;  // the ranks of each node
};

}  // namespace oriel
