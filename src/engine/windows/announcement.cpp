// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/announcement.hpp"

#include <algorithm>

#include "engine/windows/window_draft.hpp"

namespace oriel {
namespace {

/// True if no later step can fail: all ranks know their peers, and have mapped the announced
/// memory, which is in first extents. Between nodes, shared memory fails, and atomics of the
/// network may fail; these are used only if all ranks request them.
bool conclusive(const std::vector<Announcement>& all, bool shared) {
  return std::ranges::all_of(all, [&](const Announcement& peer) {
    const bool one_node = peer.node.id == all.front().node.id;
    return peer.knows_peers != 0 && peer.failed == 0 && peer.control.extent() == 0 &&
           peer.pieces.extent() == 0 && peer.memory.location.extent() == 0 &&
           (one_node || (!shared && all.front().intrinsic == 0));
  });
}

}  // namespace

std::string Announcements::rank_and_host(int rank) const {
  return "rank " + std::to_string(rank) + " (" + of(rank).node.name.data() + ")";
}

void Announcements::lay_out_contiguously() {
  ArenaLocation next = by_rank.front().memory.location;
  if (!next.shared()) return;  // rank 0 has failed
  for (Announcement& announcement : by_rank) {
    announcement.memory.location = next;
    next.offset += announcement.memory.bytes;
  }
}

HostCode announce(WindowDraft& draft, Announcements& announced) {
  announced.by_rank.resize(static_cast<std::size_t>(draft.ranks));
  const HostCode code =
      draft.comm.allgather(&draft.mine, sizeof draft.mine, announced.by_rank.data());
  if (code != 0) return code;
  announced.conclusive = conclusive(announced.by_rank, draft.shared());
  return 0;
}

}  // namespace oriel
