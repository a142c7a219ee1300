// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/pieces/handle_words.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The memory handles of a rank, as a process sees them that maps its words: the owner itself or a
/// peer on its node. Zero bytes are a valid one that is not of any rank yet.
class PeerHandles {
 public:
  void set_root(const HandleRoot& root) { root_ = &root; }

  /// The slot of a handle that has not been released; null: it has, or never was one. `piece` is
  /// its memory.
  const HandleSlot* find(const HandleName& name, Piece& piece, NodeServices& services,
                         int process) {
    const HandleSlot* slot = slot_of(name.slot, services, process);
    if (!name.given() || slot == nullptr ||
        slot->token.load(std::memory_order_acquire) != name.token) {
      return nullptr;
    }
    piece.address = slot->address.load(std::memory_order_acquire);
    piece.bytes = slot->bytes.load(std::memory_order_acquire);
    piece.place.offset = slot->offset.load(std::memory_order_acquire);
    piece.place.extent_bytes = slot->extent_bytes.load(std::memory_order_acquire);
    return slot->token.load(std::memory_order_relaxed) == name.token ? slot : nullptr;
  }

 private:
  const HandleSlot* slot_of(std::uint32_t slot, NodeServices& services, int process) {
    if (slot >= HandleRoot::most_slots) return nullptr;
    const std::size_t segment = HandleRoot::segment_of(slot);
    const HandleSlot*& first = segments_[segment];
    if (first == nullptr) [[unlikely]] {
      const HandleRoot::Segment& words = root_->segments[segment];
      const std::uint64_t extent_bytes = words.extent_bytes.load(std::memory_order_acquire);
      const ArenaLocation place{words.offset.load(std::memory_order_relaxed), extent_bytes};
      if (!place.shared()) return nullptr;
      first = reinterpret_cast<const HandleSlot*>(
          services.map(process, place, HandleRoot::slots_of(segment) * sizeof(HandleSlot)));
      if (first == nullptr) return nullptr;
    }
    return first + HandleRoot::index_of(slot);
  }

  const HandleRoot* root_;
  std::array<const HandleSlot*, HandleRoot::most_segments> segments_;
};

}  // namespace oriel
