// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "core/region/member.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/network_exchange.hpp"
#include "engine/windows/node_groups.hpp"

namespace oriel {

/// The paths from this rank to every rank of the window.
struct WindowMembers {
  std::vector<Member> by_rank;  // empty if this rank has failed
  AtomicSet atomics;            // left to the network's atomics; equal on all ranks

  Member& of(int rank) { return by_rank[static_cast<std::size_t>(rank)]; }
  const Member& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// Finds the path to every rank. Does not call the host: an obstacle is a failure of this rank.
WindowMembers find_members(WindowDraft& draft, const Announcements& announced,
                           const NodeGroups& groups, const NetworkAnnouncements& network);

}  // namespace oriel
