// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/node_groups.hpp"

#include <algorithm>
#include <set>

#include "boundary/progress/setup_collectives.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/windows/window_draft.hpp"
#include "core/lock/control.hpp"

namespace oriel::boundary {
namespace {

bool maps_its_node(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  const Guard guard(engine.lock);
  ShmTransport& transport = engine.running()->transports.shm();
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(draft.ranks));
  for (int rank = 0; rank < draft.ranks; ++rank) {
    const Announcement& peer = announced.of(rank);
    if (rank == draft.rank || !groups.together(rank, draft.rank) || peer.failed != 0) continue;
    std::string& error = groups.obstacle;
    const int process = transport.attach(peer.process, error);
    if (process == ShmTransport::incompatible) {
      draft.fail(MPI_ERR_OTHER, announced.rank_and_host(rank) + " cannot be reached: " + error);
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

int divide_nodes(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  const int cannot = draft.mine.failed == 0 && !maps_its_node(draft, announced, groups) ? 1 : 0;
  std::vector<int> all(announced.by_rank.size());
  const int code = setup::allgather(&cannot, sizeof cannot, all.data(), draft.communicator);
  if (code != MPI_SUCCESS) return code;
  std::set<std::uint64_t> divided;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != 0) divided.insert(groups.by_rank[rank]);
  }
  groups.divided = !divided.empty();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint64_t& group = groups.by_rank[rank];
    if (divided.contains(group)) group ^= announced.by_rank[rank].process.id;
  }
  return MPI_SUCCESS;
}

}  // namespace

int meet_node(WindowDraft& draft, const Announcements& announced, NodeGroups& groups) {
  groups.by_rank.reserve(announced.by_rank.size());
  for (const Announcement& peer : announced.by_rank) groups.by_rank.push_back(peer.node.id);
  if (!announced.conclusive) {
    const int code = divide_nodes(draft, announced, groups);
    if (code != MPI_SUCCESS) return code;
  }
  groups.several = std::ranges::any_of(
      groups.by_rank, [&](std::uint64_t group) { return group != groups.by_rank.front(); });
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary
