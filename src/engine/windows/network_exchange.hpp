// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/windows/announcement.hpp"
#include "engine/windows/node_groups.hpp"
#include "transport/ofi/network.hpp"

namespace oriel {

/// The information that a rank also sends to all others if the ranks are on several nodes.
struct NetworkAnnouncement {
  NetworkName name;
  RemoteMemory memory;
  std::uint32_t exposed = 0;  // Member::direct
  std::uint32_t reserved = 0;
  EndpointName atomic_name;
  RemoteMemory atomic_memory;
  AtomicSet atomics;  // accumulates that it can leave to the network's atomics
};
static_assert(std::is_trivially_copyable_v<NetworkAnnouncement>);

/// The network addresses and registrations of all ranks.
struct NetworkAnnouncements {
  std::vector<NetworkAnnouncement> by_rank;  // empty: there is one node

  const NetworkAnnouncement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// Opens the network, registers this rank's memory with it, and sends both to all ranks: one
/// Allgather; none on one node, and none for shared memory, which cannot span nodes.
[[nodiscard]] HostCode meet_other_nodes(WindowDraft& draft, const Announcements& announced,
                                        const NodeGroups& groups, NetworkAnnouncements& network);

}  // namespace oriel
