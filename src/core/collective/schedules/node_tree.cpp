// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/node_tree.hpp"

#include <algorithm>

namespace oriel {

int NodeTree::parent(int node) const {
  if (node == 0) return -1;
  switch (shape_) {
    case Shape::binomial:
      return node & (node - 1);
    case Shape::binary:
      return (node - 1) / 2;
    default:
      return node - 1;
  }
}

std::vector<int> NodeTree::children(int node) const {
  std::vector<int> found;
  const auto add = [&](int child) {
    if (child < nodes_) found.push_back(child);
  };
  switch (shape_) {
    case Shape::binomial:
      for (int bit = 1; bit < nodes_ && (node & bit) == 0; bit *= 2) add(node + bit);
      break;
    case Shape::binary:
      add(2 * node + 2);
      add(2 * node + 1);
      break;
    default:
      add(node + 1);
  }
  return found;
}

}  // namespace oriel
