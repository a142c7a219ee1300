// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/pieces/handle_words.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// A memory handle of some rank, as the process sees it that has been given it.
struct HandleView {
  int target = 0;
  HandleName name;
  std::uint64_t bytes = 0;           // that may be used
  std::uint64_t disp_unit = 1;       // of these
  const HandleSlot* slot = nullptr;  // of a mapped rank
  std::byte* base = nullptr;         // of memory that can be loaded and stored here,
  std::uint64_t address = 0;         // or that is one system call away; 0: neither

  bool alive() const { return slot->token.load(std::memory_order_acquire) == name.token; }
};

/// The memory handles of a rank, as a process sees them that maps its words: the owner itself or a
/// peer on its node. Zero bytes are a valid one that is not of any rank yet.
class PeerHandles {
 public:
  void set_root(const HandleRoot& root) { root_ = &root; }

  /// The slot of a handle that has not been released; null: it has, or never was one. `memory` is
  /// what it names.
  const HandleSlot* find(const HandleName& name, MemoryRange& memory, NodeServices& services,
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
    const std::size_t segment = HandleRoot::segment_of(slot);
    const HandleSlot*& first = segments_[segment];
    if (first == nullptr) [[unlikely]] {
      const ArenaLocation location = root_->segments[segment].get();
      if (!location.shared()) return nullptr;
      first = reinterpret_cast<const HandleSlot*>(
          services.map(process, location, HandleRoot::slots_of(segment) * sizeof(HandleSlot)));
      if (first == nullptr) return nullptr;
    }
    return first + HandleRoot::index_of(slot);
  }

  const HandleRoot* root_;
  std::array<const HandleSlot*, HandleRoot::most_segments> segments_;
};

}  // namespace oriel
