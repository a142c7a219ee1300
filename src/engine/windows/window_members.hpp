// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "core/operation/atomicity.hpp"
#include "core/region/member.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/node_groups.hpp"

namespace oriel {

/// The paths from this rank to every rank of the window.
struct WindowMembers {
  std::vector<Member> by_rank;  // empty if this rank has failed
  AtomicSet atomics;            // left to the network's atomics; equal on all ranks

  Member& of(int rank) { return by_rank[static_cast<std::size_t>(rank)]; }
  const Member& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// Finds the path to every rank; an obstacle is a failure of this rank. If the ranks are on several
/// nodes, first opens the network, registers this rank's memory with it, and sends both to all
/// ranks: see meet_other_nodes(). No collective for shared memory, which cannot span nodes.
[[nodiscard]] HostCode find_members(WindowDraft& draft, const Announcements& announced,
                                    const NodeGroups& groups, WindowMembers& members);

}  // namespace oriel
