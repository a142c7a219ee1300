// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/operation/atomicity.hpp"
#include "core/transport/messages.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/node_groups.hpp"
#include "transport/ofi/network_name.hpp"

namespace oriel {

struct WindowDraft;

/// The information that a rank also sends to all others if the ranks are on several nodes, and some
/// rank may not know the others yet.
struct NetworkAnnouncement {
  NetworkName name;
  RemoteMemory memory;
  std::uint32_t exposed = 0;        // Member::direct
  std::uint32_t refused = 0;        // the rank could not open the network
  std::array<char, 160> refusal{};  // why, as a sentence
  EndpointName atomic_name;
  RemoteMemory atomic_memory;
  AtomicSet atomics;  // accumulates that it can leave to the network's atomics
};
static_assert(std::is_trivially_copyable_v<NetworkAnnouncement>);

/// The announcements of all ranks.
struct NetworkAnnouncements {
  std::vector<NetworkAnnouncement> by_rank;  // empty: there is one node

  const NetworkAnnouncement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// Opens the network that all ranks have, registers this rank's memory with it, and sends both to
/// all ranks: one Allgather if all ranks have a network already, otherwise two. If some rank cannot
/// open the network, all ranks close it and open the next one, with one more Allgather. All ranks
/// find the choice from the same data, so all call the same collectives.
[[nodiscard]] HostCode meet_other_nodes(WindowDraft& draft, const Announcements& announced,
                                        const NodeGroups& groups, NetworkAnnouncements& network);

}  // namespace oriel
