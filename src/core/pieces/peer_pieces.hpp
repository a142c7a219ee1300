// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/pieces/piece_words.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

/// What a rank has attached to a dynamic window, as a process sees it that maps its words: the
/// owner itself or a peer on its node. Zero bytes are a valid one that is not of any rank yet.
class PeerPieces {
 public:
  void meet(const PieceRoot& root) { root_ = &root; }

  /// Where the run of some bytes lies in our address space, if it lies in a piece that was noted
  /// not long ago and nothing has been attached or detached since; else null.
  std::byte* direct(std::uint64_t address, std::uint64_t bytes) const {
    if (root_->top.load(std::memory_order_acquire) != top_) return nullptr;
    for (const Noted& one : noted_) {
      const std::uint64_t offset = address - one.address;
      if (bytes <= one.bytes && offset <= one.bytes - bytes) return one.base + offset;
    }
    return nullptr;
  }
  /// For direct(): the last piece that was found, which lies at `base`.
  void note(const Piece& piece, std::byte* base) {
    if (top_ != found_) noted_ = {};
    top_ = found_;
    noted_[next_++ % noted_.size()] = {piece.address, piece.bytes, base};
  }

  /// The last piece that begins at the address or before it.
  PieceSearch find(std::uint64_t address, Piece& piece, Transport& transport, int process) {
    const auto nodes = [&](std::size_t segment) -> const PieceNode* {
      const PieceNode*& first = segments_[segment];
      if (first == nullptr) [[unlikely]]
        first = map(segment, transport, process);
      return first;
    };
    return find_piece(*root_, nodes, address, piece, found_);
  }

 private:
  const PieceNode* map(std::size_t segment, Transport& transport, int process) const {
    return reinterpret_cast<const PieceNode*>(
        transport.map(process, root_->segments[segment].place(),
                      PieceRoot::nodes_of(segment) * sizeof(PieceNode)));
  }

  struct Noted {
    std::uint64_t address;
    std::uint64_t bytes;  // 0: none
    std::byte* base;
  };

  const PieceRoot* root_;
  std::uint64_t found_;  // top of the last search
  std::uint64_t top_;    // of the pieces that are noted
  std::array<Noted, 4> noted_;
  unsigned next_;  // to be noted over
  std::array<const PieceNode*, PieceRoot::most_segments> segments_;
};

}  // namespace oriel
