// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "boundary/windows/announcement.hpp"
#include "boundary/windows/node_groups.hpp"
#include "transport/ofi/atomic_network.hpp"
#include "transport/ofi/network.hpp"

namespace oriel::boundary {

/// What a rank tells all others in addition if the ranks are on several nodes.
struct NetworkAnnouncement {
  NetworkName name;
  RemoteMemory memory;
  std::uint32_t exposed = 0;  // Member::direct
  std::uint32_t reserved = 0;
  EndpointName atomic_name;
  RemoteMemory atomic_memory;
  AtomicSet atomics;  // what it would leave to the network's atomics
};
static_assert(std::is_trivially_copyable_v<NetworkAnnouncement>);

/// All ranks' ways from node to node.
struct NetworkAnnouncements {
  std::vector<NetworkAnnouncement> by_rank;  // empty where there is one node

  const NetworkAnnouncement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// Opens the network, exposes this rank's memory to it, and tells all ranks: one Allgather, none on
/// one node, and none for shared memory, which several nodes cannot have. The host's error code.
int meet_other_nodes(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
                     NetworkAnnouncements& network);

}  // namespace oriel::boundary
