// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace lu {

/// A square matrix whose rows are dealt to the ranks in turn, as one rank sees it.
class Layout {
 public:
  Layout(int order, int rank, int ranks) : order_(order), rank_(rank), ranks_(ranks) {}

  int order() const { return order_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  int owner(int row) const { return row % ranks_; }
  bool owns(int row) const { return owner(row) == rank_; }
  /// How many rows above this one the rank owns; above `order()`, all of its rows.
  int owned_above(int row) const { return (row + ranks_ - 1 - rank_) / ranks_; }
  int owned_row(int index) const { return index * ranks_ + rank_; }
  /// No rank owns more rows.
  int most_owned() const { return (order_ + ranks_ - 1) / ranks_; }

  /// Elements of a row from the diagonal to its end: a row of U.
  int length(int row) const { return order_ - row; }
  /// Where such a row begins in a packed upper triangle.
  std::size_t place(int row) const {
    const auto above = static_cast<std::size_t>(row);
    return above * (2 * static_cast<std::size_t>(order_) + 1 - above) / 2;
  }
  /// Elements of the upper triangle.
  std::size_t upper_elements() const { return place(order_); }

 private:
  int order_;
  int rank_;
  int ranks_;
};

}  // namespace lu
