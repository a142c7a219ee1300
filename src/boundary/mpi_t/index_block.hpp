// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

namespace oriel::boundary {

/// The indices of Oriel's variables (or categories) among those of the host. Hosts add variables
/// while a program runs, and an index that a program has been given may not change. So Oriel's
/// indices are a block behind the host's first ones, and the host's later ones follow the block.
class IndexBlock {
 public:
  /// `own`: the size of the block; `host`: the present number of the host's indices. A host that
  /// has been started again may have fewer than before.
  void assign(int own, int host) {
    own_ = own;
    first_ = std::min(first_, host);
  }
  /// Removes Oriel's variables. The start of the block is kept for the next assign().
  void remove() { own_ = 0; }

  int size() const { return own_; }
  /// `position`: the position in the block, or the host's own index.
  struct Resolved {
    bool own;
    int position;
  };
  Resolved resolve(int index) const {
    if (index < first_) return {false, index};
    const int position = index - first_;
    return position < own_ ? Resolved{true, position} : Resolved{false, index - own_};
  }
  /// The reverse of resolve(): for a position in the block, and for an index of the host's.
  int index_of(int position) const { return first_ + position; }
  int from_host(int index) const { return index < first_ ? index : index + own_; }

 private:
  int first_ = std::numeric_limits<int>::max();
  int own_ = 0;
};

}  // namespace oriel::boundary
