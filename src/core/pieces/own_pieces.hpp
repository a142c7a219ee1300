// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/pieces/piece_tree.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The pieces that this rank has attached to a dynamic window.
class OwnPieces {
 public:
  /// `root`: zeroed memory that its node peers map.
  OwnPieces(PieceRoot& root, NodeServices& services);
  ~OwnPieces();
  OwnPieces(const OwnPieces&) = delete;
  OwnPieces& operator=(const OwnPieces&) = delete;

  // If a call fails, `reason` is the second half of a sentence.
  /// Error::attach: it overlaps an attached piece, or there is no memory for its node.
  Error attach(const MemoryRange& piece, const char*& reason);
  /// Error::base: no piece begins there.
  Error detach(std::uint64_t address, const char*& reason);

 private:
  /// The memory of the tree's nodes.
  class Segments {
   public:
    explicit Segments(NodeServices& services) : services_(services) {}
    ~Segments();
    Segments(const Segments&) = delete;
    Segments& operator=(const Segments&) = delete;
    PieceNode* take(std::size_t segment, ArenaLocation& location);

   private:
    NodeServices& services_;
    std::vector<std::byte*> taken_;
  };

  Segments segments_;
  BasicPieceTree<SharedWords, Segments> tree_;
  std::multiset<std::uint64_t> empty_;  // pieces without bytes, which no operation can access
};

}  // namespace oriel
