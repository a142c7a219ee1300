// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "boundary/windows/announcement.hpp"
#include "boundary/windows/network_exchange.hpp"
#include "boundary/windows/node_groups.hpp"
#include "core/region/member.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
