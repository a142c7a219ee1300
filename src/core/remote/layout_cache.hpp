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

/// The datatypes that one process has described to another one (S7). Both processes keep such a
/// cache. Descriptions arrive in the order of sending, so both replace the same entry when the
/// cache is full. The origin thus knows which datatypes the target has, without a message.
class LayoutCache {
 public:
  /// The datatype; empty if it is not in the cache.
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

  /// The blocks of a description that has not arrived completely.
  std::vector<Block> partial;

 private:
  struct Entry {
    std::uint64_t id = 0;
    LayoutRef layout;
  };

  std::array<Entry, 32> entries_;
  std::size_t next_ = 0;
};

/// A process's caches, by the other process's number in the transport.
struct LayoutCaches {
  std::map<int, LayoutCache> described;  // our datatypes that the other process has
  std::map<int, LayoutCache> known;      // the other process's datatypes that we have
};

}  // namespace oriel
