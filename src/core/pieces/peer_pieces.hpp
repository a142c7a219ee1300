// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/published.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The pieces of a rank of a dynamic window as seen by a process that maps its words: the owner or
/// a peer on its node. All bytes zero: a valid object without a rank.
///
/// The process's lock serializes all functions except find_piece_address(), which threads call
/// without it.
class PeerPieces {
 public:
  void set_root(const PieceRoot& root) { root_ = &root; }

  /// The address of `bytes` bytes in our address space, if they are in one attached piece that can
  /// be loaded and stored, and the owner has attached or detached nothing since the last cache();
  /// null otherwise.
  std::byte* find_piece_address(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t version = cache_version_.begin_read();
    if (root_->top.load(std::memory_order_acquire) != top_.load(std::memory_order_acquire)) {
      return nullptr;
    }
    for (const Cached& one : cached_) {
      const std::uint64_t size = one.bytes.load(std::memory_order_acquire);
      const std::uint64_t offset = address - one.address.load(std::memory_order_acquire);
      if (bytes > size || offset > size - bytes) continue;
      std::byte* where = one.base.load(std::memory_order_acquire) + offset;
      return cache_version_.is_unchanged(version) ? where : nullptr;
    }
    return search(address, bytes);
  }
  /// Caches the attached piece that find_last_piece() has found last, which is mapped at `base`,
  /// for find_piece_address().
  void cache(const MemoryRange& piece, std::byte* base) {
    extent_.set(piece.location, base);
    const bool changed = top_.load() != found_;
    if (!changed && is_cached(piece)) return;
    cache_version_.change([&] {
      if (changed) {
        for (Cached& one : cached_) one.bytes.store(0, std::memory_order_release);
        top_.store(found_, std::memory_order_release);
      }
      Cached& one = cached_[next_++ % cached_.size()];
      one.address.store(piece.address, std::memory_order_release);
      one.bytes.store(piece.bytes, std::memory_order_release);
      one.base.store(base, std::memory_order_release);
    });
  }

  /// Finds the last piece that begins at the address or before it.
  PieceSearch find_last_piece(std::uint64_t address, MemoryRange& piece, NodeServices& services,
                              int process) {
    const auto nodes = [&](std::size_t segment) -> const PieceNode* {
      Published<const PieceNode*>& first = segments_[segment];
      // Release: find_piece_address() reads the nodes.
      if (first.load() == nullptr) [[unlikely]]
        first.store(map(segment, services, process), std::memory_order_release);
      return first.load();
    };
    return find_piece(*root_, nodes, address, piece, found_);
  }

 private:
  /// The mapping of the first extent in which a cached piece was found, which is nearly always the
  /// only one. It never changes once set, so find_last_piece() needs no lock.
  class Extent {
   public:
    void set(const ArenaLocation& location, const std::byte* base) {
      if (bytes_.load() != 0 || !location.shared()) return;
      begin_.store(location.extent());
      ahead_.store(reinterpret_cast<std::uintptr_t>(base) - location.offset);
      // Release: a reader that finds it set reads the other two words.
      bytes_.store(location.extent_bytes, std::memory_order_release);
    }
    /// The address of a location; null if it is in another extent.
    std::byte* address_of(const ArenaLocation& location) const {
      const std::uint64_t bytes = bytes_.load(std::memory_order_acquire);
      const bool here =
          bytes != 0 && bytes == location.extent_bytes && begin_.load() == location.extent();
      return here ? reinterpret_cast<std::byte*>(ahead_.load() + location.offset) : nullptr;
    }

   private:
    Published<std::uint64_t> begin_;
    Published<std::uint64_t> ahead_;  // our address of a byte minus its offset in the file
    Published<std::uint64_t> bytes_;  // 0: none
  };

  /// find_piece_address() for other pieces than the cached ones: searches the mapped part of the
  /// tree.
  std::byte* search(std::uint64_t address, std::uint64_t bytes) const {
    const auto nodes = [&](std::size_t segment) {
      return segments_[segment].load(std::memory_order_acquire);
    };
    MemoryRange piece;
    std::uint64_t top = 0;
    if (find_piece(*root_, nodes, address, piece, top) != PieceSearch::found ||
        piece.bytes_from(address) < bytes) {
      return nullptr;
    }
    std::byte* const base = piece.location.shared() ? extent_.address_of(piece.location) : nullptr;
    return base != nullptr ? base + (address - piece.address) : nullptr;
  }

  const PieceNode* map(std::size_t segment, NodeServices& services, int process) const {
    return reinterpret_cast<const PieceNode*>(
        services.map(process, root_->segments[segment].get(),
                     DoublingSegments::entries(segment) * sizeof(PieceNode)));
  }

  struct Cached {
    Published<std::uint64_t> address;
    Published<std::uint64_t> bytes;  // 0: none
    Published<std::byte*> base;
  };

  bool is_cached(const MemoryRange& piece) const {
    return std::ranges::any_of(cached_, [&](const Cached& one) {
      return one.address.load() == piece.address && one.bytes.load() == piece.bytes;
    });
  }

  const PieceRoot* root_;
  std::uint64_t found_;           // PieceRoot::top at the last search
  Published<std::uint64_t> top_;  // PieceRoot::top when the cached pieces were found
  std::array<Cached, 4> cached_;
  unsigned next_;  // the next one to be replaced
  Version cache_version_;
  Extent extent_;
  std::array<Published<const PieceNode*>, PieceRoot::most_segments> segments_;
};

}  // namespace oriel
