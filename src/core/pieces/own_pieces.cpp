// SPDX-License-Identifier: BSD-3-Clause
#include "core/pieces/own_pieces.hpp"

#include <limits>
#include <new>

namespace oriel {

OwnPieces::Segments::~Segments() {
  for (std::byte* memory : allocated_) services_.unshare(memory);
}

PieceNode* OwnPieces::Segments::allocate(std::size_t segment, ArenaLocation& location) {
  const std::size_t count = DoublingSegments::entries(segment);
  std::byte* memory = services_.share(count * sizeof(PieceNode), location);
  if (memory == nullptr) return nullptr;
  allocated_.push_back(memory);
  // Zeroed memory is a valid array of nodes, so no page is touched before it is needed.
  return std::launder(reinterpret_cast<PieceNode*>(memory));
}

OwnPieces::OwnPieces(PieceRoot& root, NodeServices& services)
    : segments_(services), tree_(root, segments_) {}

Error OwnPieces::attach(const MemoryRange& piece, FailureReason& reason) {
  if (piece.bytes > std::numeric_limits<std::uint64_t>::max() - piece.address) {
    return reason.fail(Error::attach, "the memory reaches beyond the last address");
  }
  if (piece.bytes == 0) {
    empty_.insert(piece.address);
    return Error::none;
  }
  MemoryRange last;
  if (tree_.find_attached(piece.address + (piece.bytes - 1), last) &&
      last.address + last.bytes > piece.address) {
    return reason.fail(Error::attach,
                       "some of this memory is attached to the window already; detach it first");
  }
  if (!tree_.reserve()) {
    return reason.fail(Error::attach,
                       "there is no shared memory left to note the window's pieces in, or there "
                       "are millions of them");
  }
  tree_.attach(piece);
  return Error::none;
}

Error OwnPieces::detach(std::uint64_t address, FailureReason& reason) {
  MemoryRange piece;
  if (tree_.find_attached(address, piece) && piece.address == address) {
    tree_.detach(address);
    return Error::none;
  }
  const auto empty = empty_.find(address);
  if (empty == empty_.end()) {
    return reason.fail(Error::base,
                       "nothing that is attached to the window begins at this address");
  }
  empty_.erase(empty);
  return Error::none;
}

}  // namespace oriel
