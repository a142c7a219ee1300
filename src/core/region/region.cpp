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
          transport.node(), spec.rank,
          // Threads without the process's lock call it, too.
          [this](int rank) { return table_.read_member(rank).process; }, table_.mapped_ranks()),
      mine_(spec.control),
      known_(static_cast<std::size_t>(spec.ranks)) {
  if (spec.pieces == nullptr) return;
  own_pieces_ = std::make_unique<OwnPieces>(spec.pieces->attached, transport.node());
  own_handles_ = std::make_unique<OwnHandles>(spec.pieces->handles, transport.node());
}

const Member& Region::resolve(int rank) {
  Known& known = known_[rank];
  known.member = table_.find_mapped_member(rank);
  if (known.member == nullptr)
    known.member = &remote_members_.emplace_back(table_.read_member(rank));
  if (const SharedPieces* pieces = known.member->pieces) {
    known.attached = &attached_.emplace_back();
    known.attached->pieces.set_root(pieces->attached);
    known.attached->handles.set_root(pieces->handles);
  }
  return *known.member;
}

void Region::release_lock(int locked, int origin, bool exclusive) {
  LockLine line = lock_line(locked);
  if (line.release(origin, exclusive)) return;
  granted_.clear();
  line.hand_on(granted_, [&](const Piggyback& piggyback) {
    return perform_piggyback(piggyback, locked) == Error::none;
  });
  // A remote origin is represented in the line by the target's Server.
  for (const int rank : granted_) wake(mapped(rank) ? rank : locked);
}

}  // namespace oriel
