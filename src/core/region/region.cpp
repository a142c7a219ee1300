// SPDX-License-Identifier: BSD-3-Clause
#include "core/region/region.hpp"

#include <utility>

namespace oriel {

Region::Region(RegionSpec spec, Transport& transport)
    : transport_(transport),
      rank_(spec.rank),
      ranks_(spec.ranks),
      atomics_(spec.atomics),
      atomicity_(spec.atomicity),
      own_(std::move(spec.own)),
      table_(std::move(spec.members)),
      sharers_(
          transport.node(), spec.rank, [this](int rank) { return member(rank).process; },
          table_.mapped_ranks()),
      mine_(spec.control),
      members_(static_cast<std::size_t>(spec.ranks)),
      pieces_(spec.pieces != nullptr ? members_.size() : 0),
      handles_(pieces_.size()) {
  if (spec.pieces == nullptr) return;
  own_pieces_ = std::make_unique<OwnPieces>(spec.pieces->attached, transport.node());
  own_handles_ = std::make_unique<OwnHandles>(spec.pieces->handles, transport.node());
}

void Region::resolve(int rank) {
  Member found = table_.find(rank);
  if (found.pieces != nullptr) {
    pieces_[rank].set_root(found.pieces->attached);
    handles_[rank].set_root(found.pieces->handles);
    found.private_memory = false;  // each piece has its own
  }
  members_[rank] = {found, true};
}

void Region::wake(int rank) {
  Doorbell& bell = *member(rank).doorbell;
  if (bell.asked_to_ring()) transport_.node().ring(bell);
}

void Region::give_back(int locked, int origin, bool exclusive) {
  LockLine line = lock_line(locked);
  if (line.release(origin, exclusive)) return;
  told_.clear();
  line.hand_on(told_, [&](const Piggyback& piggyback) {
    return perform_piggyback(piggyback, member(locked)) == Error::none;
  });
  // A remote origin is represented in the line by the target's Server.
  for (const int rank : told_) wake(mapped(rank) ? rank : locked);
}

}  // namespace oriel
