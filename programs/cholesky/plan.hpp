// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tiling.hpp"

namespace cholesky {

struct ArenaLocation {
  int row;
  int column;
};

/// The static schedule of Kurzak et al. as one rank sees it: the tiles are dealt to the ranks
/// column by column, and each rank computes its own in that order, which no dependency contradicts.
///
/// A finished tile goes to the ranks that read it, along a binary tree of these ranks whose root is
/// the one that has computed it.
class Plan {
 public:
  Plan(const Tiling& tiling, int rank, int ranks)
      : tiling_(tiling), ranks_(ranks), children_(static_cast<std::size_t>(tiling.tiles())) {
    for (int column = 0; column < tiling.rows(); ++column) {
      for (int row = column; row < tiling.rows(); ++row) {
        if (owner(row, column) == rank) own_.push_back({row, column});
        place_in_tree(row, column, rank);
      }
    }
  }

  const std::vector<ArenaLocation>& own() const { return own_; }
  /// The ranks that this one sends the tile to once it has it.
  const std::vector<int>& children(int tile) const { return children_[tile]; }
  /// How many tiles this rank receives.
  int arrivals() const { return arrivals_; }

 private:
  static constexpr int arity = 2;

  int owner(int row, int column) const { return tiling_.tile(row, column) % ranks_; }

  void place_in_tree(int row, int column, int rank) {
    const std::vector<bool> reads = readers(row, column);
    const int root = owner(row, column);
    std::vector<int> tree{root};  // the children of place p are at arity * p + 1 and behind it
    std::size_t mine = 0;
    for (int distance = 1; distance < ranks_; ++distance) {
      const int other = (root + distance) % ranks_;
      if (!reads[other]) continue;
      if (other == rank) mine = tree.size();
      tree.push_back(other);
    }
    if (mine == 0 && root != rank) return;
    if (root != rank) ++arrivals_;
    std::vector<int>& children = children_[tiling_.tile(row, column)];
    for (std::size_t child = arity * mine + 1; child <= arity * mine + arity; ++child) {
      if (child < tree.size()) children.push_back(tree[child]);
    }
  }

  /// By rank.
  std::vector<bool> readers(int row, int column) const {
    std::vector<bool> result(static_cast<std::size_t>(ranks_));
    for (int below = row + 1; below < tiling_.rows(); ++below) {
      result[owner(below, row == column ? column : row)] = true;
    }
    for (int right = column + 1; right <= row; ++right) result[owner(row, right)] = true;
    return result;
  }

  const Tiling& tiling_;
  int ranks_;
  std::vector<ArenaLocation> own_;
  std::vector<std::vector<int>> children_;
  int arrivals_ = 0;
};

}  // namespace cholesky
