// SPDX-License-Identifier: BSD-3-Clause
// Operations on memory that mapped ranks have attached to a dynamic window (G2), and on memory
// handles (Q5).
#include <algorithm>

#include "core/operation/address.hpp"
#include "core/operation/element_runs.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// A copy of the rank's Member whose memory is this range.
Member Region::as_member(int rank, const MemoryRange& memory, bool detached) {
  Member made = member(rank);
  made.detached = detached;
  // Memory that this process cannot map is accessed by system calls.
  if (rank == rank_) {
    made.set_memory(memory, at(nullptr, static_cast<std::int64_t>(memory.address)), nullptr,
                    ranks_ == 1);
    return made;
  }
  // So is private memory that its owner has detached: a system call fails if it has been unmapped,
  // a load ends the process.
  std::byte* const mapped = detached && !memory.location.shared()
                                ? nullptr
                                : transport_.node().map_range(made.process, memory);
  made.set_memory(memory, nullptr, mapped, false);
  return made;
}

/// Called before an operation accesses bytes of a piece. False if these are our own, and we have
/// detached and unmapped them.
bool Region::check_detached(int rank, const Member& piece, std::uint64_t address,
                            std::uint64_t bytes, bool stores) {
  if (!piece.detached) return true;
  detached_found_ = true;
  return rank != rank_ || reachable(at(nullptr, static_cast<std::int64_t>(address)), bytes, stores);
}

/// Finds the piece that contains a byte of the rank, and the bytes of the piece from that byte on.
Error Region::find_piece(int rank, std::uint64_t address, Member& piece, std::uint64_t& remaining) {
  MemoryRange found;
  PeerPieces& pieces = attached(rank).pieces;
  const PieceSearch search =
      pieces.find_last_piece(address, found, transport_.node(), member(rank).process);
  if (search == PieceSearch::unreachable) return Error::system;
  remaining = search == PieceSearch::none ? 0 : found.bytes_from(address);
  if (remaining == 0) return Error::range;
  piece = as_member(rank, found, search == PieceSearch::detached);
  // Our own private pieces are not cached: they are not updated by CPU atomics.
  if (piece.path == Path::load_store && !piece.private_memory && !piece.detached) {
    pieces.cache(found, piece.base);
  }
  return Error::none;
}

Path Region::path_of(int rank, std::int64_t displacement, const Elements& elements,
                     const HandleName& handle) {
  const Member& target = member(rank);
  if (!mapped(rank) || !dynamic() || elements.count == 0 || elements.layout.size() == 0) {
    return target.path;
  }
  Member found;
  Error error;
  if (handle.given()) {
    error = find_handle(rank, handle, found) != nullptr ? Error::none : Error::range;
  } else {
    const std::int64_t low = elements.layout.bounds(elements.count).first;
    std::uint64_t remaining;
    error =
        find_piece(rank, static_cast<std::uint64_t>(displacement) + static_cast<std::uint64_t>(low),
                   found, remaining);
  }
  return error == Error::none ? found.path : target.path;
}

std::byte* Region::find_piece_address(int rank, std::uint64_t address, std::uint64_t bytes) const {
  return known_[rank].attached->pieces.find_piece_address(address, bytes);
}

const HandleSlot* Region::find_handle(int rank, const HandleName& name, Member& piece) {
  MemoryRange found;
  const HandleSlot* slot =
      attached(rank).handles.find_slot(name, found, transport_.node(), member(rank).process);
  if (slot != nullptr) piece = as_member(rank, found);
  return slot;
}

Error Region::open_handle(HandleView& view) {
  Member piece;
  view.slot = find_handle(view.target, view.name, piece);
  if (view.slot == nullptr || view.bytes > piece.size) return Error::base;
  if (piece.path == Path::load_store) view.base = piece.base;
  if (piece.path == Path::system_call) view.address = piece.address;
  return Error::none;
}

Error Region::perform_on_handle(const Operation& operation) {
  Member piece;
  const std::int64_t start = operation.displacement;
  if (find_handle(operation.target, operation.handle, piece) == nullptr || start < 0 ||
      !operation.target_layout->within(operation.target_count, start, piece.size)) {
    return Error::range;
  }
  return perform_at(operation, piece, static_cast<std::uint64_t>(start));
}

Error Region::check_pieces(std::uint64_t address, std::uint64_t bytes, std::uint64_t element,
                           Member& memory) {
  while (bytes != 0) {
    Member piece;
    std::uint64_t remaining = 0;
    if (const Error error = find_piece(rank_, address, piece, remaining); error != Error::none) {
      return error;
    }
    memory.private_memory |= piece.private_memory;
    memory.detached |= piece.detached;
    const std::uint64_t held = std::min(remaining, bytes) / element * element;
    if (held == 0) return Error::range;
    address += held;
    bytes -= held;
  }
  return Error::none;
}

Error Region::perform_on_pieces(const Operation& operation) {
  if (operation.bytes() == 0) return Error::none;
  if (operation.handle.given()) return perform_on_handle(operation);
  const auto start = static_cast<std::uint64_t>(operation.displacement);
  const auto [low, high] = operation.target_layout->bounds(operation.target_count);
  Member piece;
  std::uint64_t remaining = 0;
  if (const Error error =
          find_piece(operation.target, start + static_cast<std::uint64_t>(low), piece, remaining);
      error != Error::none) {
    return error;
  }
  const auto bytes = static_cast<std::uint64_t>(high - low);
  if (bytes > remaining) return perform_by_pieces(operation);
  if (!check_detached(operation.target, piece, start + static_cast<std::uint64_t>(low), bytes,
                      operation.kind != OperationKind::get)) {
    return Error::range;
  }
  return perform_at(operation, piece, start - piece.address);
}

/// Calls visit(piece, operation) for each part of an operation that lies in one run and one piece.
template <typename Visit>
Error Region::for_each_part(const Operation& operation, Visit&& visit) {
  const std::uint64_t element = std::max<std::uint64_t>(operation.reduction.element, 1);
  const LayoutRef one(
      new Layout({{0, element}}, static_cast<std::int64_t>(element), operation.reduction.basic));
  Operation part = operation;
  part.target_layout = one;
  Member piece;
  std::uint64_t remaining = 0;
  for (ElementRuns runs(operation); runs.bytes() != 0; runs.skip(part.bytes())) {
    part.displacement = operation.displacement + runs.offset();
    const auto address = static_cast<std::uint64_t>(part.displacement);
    remaining = MemoryRange{piece.address, piece.size}.bytes_from(address);
    if (remaining == 0) {
      piece = {};
      if (const Error error = find_piece(operation.target, address, piece, remaining);
          error != Error::none) {
        return error;
      }
    }
    // An element that is in two pieces counts as not attached.
    part.target_count = std::min(runs.bytes(), remaining) / element;
    if (part.target_count == 0 || !check_detached(operation.target, piece, address, part.bytes(),
                                                  operation.kind != OperationKind::get)) {
      return Error::range;
    }
    if (operation.origin.layout) part.origin = {runs.origin(), part.target_count, one};
    if (operation.result.layout) part.result = {runs.result(), part.target_count, one};
    if (const Error error = visit(piece, part); error != Error::none) return error;
  }
  return Error::none;
}

/// Carries out an operation whose datatype reaches into several pieces: part by part, after a check
/// that all of them are attached.
Error Region::perform_by_pieces(const Operation& operation) {
  const Error error =
      for_each_part(operation, [](const Member&, const Operation&) { return Error::none; });
  if (error != Error::none) return error;
  const auto offset = [](const Member& piece, const Operation& part) {
    return static_cast<std::uint64_t>(part.displacement) - piece.address;
  };
  if (!updates(operation.kind)) {
    return for_each_part(operation, [&](const Member& piece, const Operation& part) {
      return move_at(part, piece, offset(piece, part));
    });
  }
  const Update held(*member(operation.target).control, sharers_, true, operation.line);
  if (held.lost()) return lost(held);
  return for_each_part(operation, [&](const Member& piece, const Operation& part) {
    return update_at(held, part, piece, offset(piece, part));
  });
}

}  // namespace oriel
