// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/windows/announcement.hpp"

namespace oriel {

/// The groups of ranks that map each other's memory: the ranks of one node, unless one of them
/// cannot map the memory of another one. The ranks of such a node are remote to each other, on all
/// ranks and in both directions.
struct NodeGroups {
  std::vector<std::uint64_t> by_rank;  // two ranks map each other if their numbers are equal
  bool several = false;
  bool divided = false;  // some rank cannot map the memory of another one of its node
  std::string obstacle;  // why this rank cannot, as a sentence

  bool together(int one, int other) const {
    return by_rank[static_cast<std::size_t>(one)] == by_rank[static_cast<std::size_t>(other)];
  }
};

/// Maps the memory of the ranks of this node, and sends the result to all ranks: one Allgather,
/// none if the announcements are conclusive.
[[nodiscard]] HostCode meet_node(WindowDraft& draft, const Announcements& announced,
                                 NodeGroups& groups);

}  // namespace oriel
