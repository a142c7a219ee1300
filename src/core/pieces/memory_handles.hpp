// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/pieces/shared_pieces.hpp"
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

  /// Error::attach: there is no slot for it.
  Error create(const MemoryRange& memory, HandleName& name, FailureReason& reason);
  /// Error::base: there is no such handle, or it has been released.
  Error release(const HandleName& name);

 private:
  HandleSlot& at(std::uint32_t slot) {
    const auto [segment, index] = DoublingSegments::spot(slot);
    return segments_[segment][index];
  }
  bool reserve_slot(std::uint32_t& slot);

  HandleRoot& root_;
  NodeServices& services_;
  std::array<HandleSlot*, HandleRoot::most_segments> segments_{};
  std::uint32_t used_ = 0;           // number of slots that have ever been used
  std::vector<std::uint32_t> free_;  // of these
};

/// A rank's memory handle as seen by a process that operates through it.
struct HandleView {
  int target = 0;
  HandleName name;
  std::uint64_t bytes = 0;  // of the memory
  std::uint64_t disp_unit = 1;
  const HandleSlot* slot = nullptr;  // of a mapped rank
  std::byte* base = nullptr;         // of the memory, if it can be loaded and stored here
  std::uint64_t address = 0;  // of the memory, if it is reached by one system call; 0 otherwise

  bool alive() const { return slot->token.load(std::memory_order_acquire) == name.token; }
};

/// The memory handles of a rank as seen by a process that maps its words: the owner or a peer on
/// its node. All bytes zero: a valid object without a rank.
class PeerHandles {
 public:
  void set_root(const HandleRoot& root) { root_ = &root; }

  /// The slot of a handle; `memory` is the handle's memory. Null: the handle has been released or
  /// never existed.
  const HandleSlot* find_slot(const HandleName& name, MemoryRange& memory, NodeServices& services,
                              int process) {
    const HandleSlot* slot = slot_of(name.slot, services, process);
    if (!name.given() || slot == nullptr ||
        slot->token.load(std::memory_order_acquire) != name.token) {
      return nullptr;
    }
    memory = slot->memory.get(std::memory_order_acquire);
    return slot->token.load(std::memory_order_relaxed) == name.token ? slot : nullptr;
  }

 private:
  const HandleSlot* slot_of(std::uint32_t slot, NodeServices& services, int process) {
    if (slot >= HandleRoot::most_slots) return nullptr;
    const auto [segment, index] = DoublingSegments::spot(slot);
    const HandleSlot*& first = segments_[segment];
    if (first == nullptr) [[unlikely]] {
      const ArenaLocation location = root_->segments[segment].get();
      if (!location.shared()) return nullptr;
      first = reinterpret_cast<const HandleSlot*>(
          services.map(process, location, DoublingSegments::entries(segment) * sizeof(HandleSlot)));
      if (first == nullptr) return nullptr;
    }
    return first + index;
  }

  const HandleRoot* root_;
  std::array<const HandleSlot*, HandleRoot::most_segments> segments_;
};

}  // namespace oriel
