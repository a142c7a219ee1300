// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/operation/layout.hpp"

namespace oriel {

/// The datatypes that one process has described to another (S7). Both keep one of these, and
/// because descriptions arrive in the order of sending, both forget the same one when it is full:
/// the origin knows what the target knows without asking.
class LayoutCache {
 public:
  /// Empty if it is not here.
  LayoutRef find(std::uint64_t id) const {
    for (const Entry& entry : entries_) {
      if (entry.id == id) return entry.layout;
    }
    return {};
  }
  void insert(std::uint64_t id, LayoutRef layout) {
    entries_[next_] = {id, std::move(layout)};
    next_ = (next_ + 1) % entries_.size();
  }

  /// Blocks of a description of which more is to come.
  std::vector<Block> partial;

 private:
  struct Entry {
    std::uint64_t id = 0;
    LayoutRef layout;
  };

  std::array<Entry, 32> entries_;
  std::size_t next_ = 0;
};

/// Those of a process, by the number of the other one in the transport.
struct LayoutCaches {
  std::map<int, LayoutCache> described;  // our datatypes that it knows
  std::map<int, LayoutCache> known;      // its datatypes that we know
};

}  // namespace oriel
