// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace oriel {

/// Which ranks of a window watch which others by links (Lifeline): few of each, such that the end
/// of a rank, and of a whole node, is seen on other nodes, and what one rank hears reaches all.
///
/// Nodes are numbered from 0 to m - 1, and the ranks of each. Rank p of node i has links to
/// - rank p of the nodes i + 1, i + 2, i + 4, ... modulo m, if they have so many ranks;
/// - rank p + 1, p + 2, p + 4, ... of its own node, modulo the ranks there.
/// So rank 0 of each node is linked from ceil(log2 m) other nodes, and every rank from ceil(log2)
/// of the ranks of its own node, however different the nodes are.
class Watchers {
 public:
  /// `nodes`: of each rank; ranks of one node have the same number, whatever it is.
  explicit Watchers(std::span<const std::uint64_t> nodes);

  /// The ranks that this one has links to.
  std::vector<int> watched_by(int rank) const;

 private:
  struct Place {
    std::size_t node;
    std::size_t number;  // among the ranks of the node
  };
  std::vector<Place> places_;            // by rank
  std::vector<std::vector<int>> nodes_;  // their ranks
};

}  // namespace oriel
