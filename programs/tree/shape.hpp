// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace tree {

/// All ranks as a tree of this arity with rank 0 as its root, and this rank's place in it.
class Shape {
 public:
  explicit Shape(int arity) : arity_(arity) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const long long first = 1LL * rank_ * arity + 1;
    for (long long child = first; child < std::min<long long>(first + arity, ranks_); ++child) {
      children_.push_back(static_cast<int>(child));
    }
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int arity() const { return arity_; }

  bool root() const { return rank_ == 0; }
  int parent() const { return (rank_ - 1) / arity_; }
  /// Which one of its parent's children this rank is, from 0.
  int place() const { return (rank_ - 1) % arity_; }
  const std::vector<int>& children() const { return children_; }

  /// How far from the root this rank is, and the farthest one.
  int level() const { return level_of(rank_); }
  int depth() const { return level_of(ranks_ - 1); }

 private:
  int level_of(int rank) const {
    int level = 0;
    for (; rank > 0; rank = (rank - 1) / arity_) ++level;
    return level;
  }

  int arity_;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<int> children_;
};

}  // namespace tree
