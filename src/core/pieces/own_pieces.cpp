// SPDX-License-Identifier: BSD-3-Clause
#include "core/pieces/own_pieces.hpp"

#include <limits>
#include <new>
#include <vector>

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
  std::vector<std::uint64_t> overlapped;
  if (!find_overlapped(piece, overlapped)) {
    return reason.fail(Error::attach,
                       "some of this memory is attached to the window already; detach it first");
  }
  if (!tree_.reserve()) {
    return reason.fail(Error::attach,
                       "there is no shared memory left to note the window's pieces in, or there "
                       "are millions of them");
  }
  // The new piece is inserted before the overlapped ones are removed, so a search for a common byte
  // always succeeds.
  tree_.attach(piece);
  for (const std::uint64_t detach : overlapped) {
    if (detached_.at(detach) == piece.address) {
      detached_.erase(detach);
    } else {
      forget(detach);
    }
  }
  return Error::none;
}

/// Collects the numbers of the detaches of the pieces that `piece` overlaps. False if one of them
/// is attached.
bool OwnPieces::find_overlapped(const MemoryRange& piece, std::vector<std::uint64_t>& detaches) {
  MemoryRange last;
  std::uint64_t detach = 0;
  for (std::uint64_t address = piece.address + (piece.bytes - 1);
       tree_.find(address, last, detach) && last.address + last.bytes > piece.address;
       address = last.address - 1) {
    if (detach == 0) return false;
    detaches.push_back(detach);
    if (last.address <= piece.address) break;
  }
  return true;
}

void OwnPieces::forget(std::uint64_t detach) {
  const auto found = detached_.find(detach);
  tree_.forget(found->second);
  detached_.erase(found);
}

void OwnPieces::forget_detached(std::uint64_t address, std::uint64_t bytes) {
  if (detached_.empty()) return;
  std::vector<std::uint64_t> found;
  MemoryRange last;
  std::uint64_t detach = 0;
  for (std::uint64_t end = address + (bytes - 1);
       tree_.find(end, last, detach) && last.address >= address; end = last.address - 1) {
    if (detach != 0) found.push_back(detach);
    if (last.address == 0) break;
  }
  for (const std::uint64_t number : found) forget(number);
}

Error OwnPieces::detach(std::uint64_t address, FailureReason& reason) {
  MemoryRange piece;
  std::uint64_t detach = 0;
  if (tree_.find(address, piece, detach) && piece.address == address && detach == 0) {
    tree_.detach(address, ++detaches_);
    detached_.emplace(detaches_, address);
    if (detached_.size() > most_detached) forget(detached_.begin()->first);
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
