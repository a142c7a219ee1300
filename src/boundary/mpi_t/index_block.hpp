// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

namespace oriel::boundary {

/// The indices of Oriel's variables (or categories) among those of the host. Hosts add variables
/// while a program runs, and an index that a program has been given may not change. So Oriel's lie
/// in a block behind the host's first ones, and the host's later ones lie behind that block.
class IndexBlock {
 public:
  /// The block has so many indices, and the host has so many now. A host that has been started
  /// again may have fewer than before.
  void assign(int own, int host) {
    own_ = own;
    first_ = std::min(first_, host);
  }
  /// There are none of Oriel's any more; their indices are kept for the next time.
  void remove() { own_ = 0; }

  int size() const { return own_; }
  /// `position`: in the block, or the host's own index.
  struct Resolved {
    bool own;
    int position;
  };
  Resolved resolve(int index) const {
    if (index < first_) return {false, index};
    const int position = index - first_;
    return position < own_ ? Resolved{true, position} : Resolved{false, index - own_};
  }
  /// The reverse.
  int index_of(int position) const { return first_ + position; }
  int from_host(int index) const { return index < first_ ? index : index + own_; }

 private:
  int first_ = std::numeric_limits<int>::max();
  int own_ = 0;
};

}  // namespace oriel::boundary
