// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/pieces/handle_words.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The memory handles that this rank has created on a dynamic window.
class OwnHandles {
 public:
  /// `root`: zeroed memory that its node peers map.
  OwnHandles(HandleRoot& root, NodeServices& services) : root_(root), services_(services) {}
  ~OwnHandles();
  OwnHandles(const OwnHandles&) = delete;
  OwnHandles& operator=(const OwnHandles&) = delete;

  /// Error::attach: there is no slot for it. `reason` is then the second half of a sentence.
  Error create(const MemoryRange& memory, HandleName& name, const char*& reason);
  /// Error::base: there is no such handle, or it has been released.
  Error release(const HandleName& name);

 private:
  HandleSlot& at(std::uint32_t slot) {
    return segments_[HandleRoot::segment_of(slot)][HandleRoot::index_of(slot)];
  }
  bool take(std::uint32_t& slot);

  HandleRoot& root_;
  NodeServices& services_;
  std::array<HandleSlot*, HandleRoot::most_segments> segments_{};
  std::uint32_t used_ = 0;           // number of slots that have ever been used
  std::vector<std::uint32_t> free_;  // of these
};

}  // namespace oriel
