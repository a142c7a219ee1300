// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/node_groups.hpp"

#include <algorithm>
#include <set>

#include "core/lock/control.hpp"
#include "engine/windows/window_draft.hpp"

namespace oriel {
namespace {

bool maps_its_node(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  const Guard guard(draft.engine.lock);
  ShmTransport& transport = draft.running->transports.shm();
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(draft.ranks));
  for (int rank = 0; rank < draft.ranks; ++rank) {
    const Announcement& peer = announced.of(rank);
    if (rank == draft.rank || !groups.together(rank, draft.rank) || peer.failed != 0) continue;
    std::string& error = groups.obstacle;
    const int process = transport.attach(peer.process, error);
    if (process == ShmTransport::incompatible) {
      draft.fail(Error::system, announced.rank_and_host(rank) + " cannot be reached: " + error);
    } else if (process < 0 ||
               transport.at(process, peer.control, control_bytes, error) == nullptr ||
               (peer.pieces.shared() &&
                transport.at(process, peer.pieces, sizeof(SharedPieces), error) == nullptr) ||
               (peer.memory.location.shared() &&
                transport.at(process, peer.memory.location, peer.memory.bytes, error) == nullptr)) {
      return false;
    }
  }
  return true;
}

HostCode divide_nodes(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  const int cannot = !draft.failed() && !maps_its_node(draft, announced, groups) ? 1 : 0;
  std::vector<int> all(announced.by_rank.size());
  const HostCode code = draft.comm.allgather(&cannot, sizeof cannot, all.data());
  if (code != 0) return code;
  std::set<std::uint64_t> divided;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != 0) divided.insert(groups.by_rank[rank]);
  }
  groups.divided = !divided.empty();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint64_t& group = groups.by_rank[rank];
    if (divided.contains(group)) group ^= announced.by_rank[rank].process.id;
  }
  return 0;
}

}  // namespace

HostCode meet_node(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  groups.by_rank.reserve(announced.by_rank.size());
  for (const Announcement& peer : announced.by_rank) groups.by_rank.push_back(peer.node.id);
  if (!announced.conclusive) {
    const HostCode code = divide_nodes(draft, announced, groups);
    if (code != 0) return code;
  }
  groups.several = std::ranges::any_of(
      groups.by_rank, [&](std::uint64_t group) { return group != groups.by_rank.front(); });
  return 0;
}

}  // namespace oriel
