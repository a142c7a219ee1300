// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boundary/windows/announcement.hpp"

namespace oriel::boundary {

/// Which ranks of the window map each other's memory: those of one node, unless some rank there
/// cannot map another one's. The ranks of such a node are remote to each other, on all ranks alike
/// and in both directions.
struct NodeGroups {
  std::vector<std::uint64_t> by_rank;  // two ranks map each other if their numbers are equal
  bool several = false;
  bool divided = false;  // some rank cannot map the memory of another one of its node
  std::string obstacle;  // why this rank cannot, as a sentence

  bool together(int one, int other) const {
    return by_rank[static_cast<std::size_t>(one)] == by_rank[static_cast<std::size_t>(other)];
  }
};

/// Maps the memory of the ranks of this node, and tells all ranks whether that works: one
/// Allgather, none if the announcements are conclusive. The host's error code.
int meet_node(WindowDraft& draft, const Announcements& announced, NodeGroups& groups);

}  // namespace oriel::boundary
