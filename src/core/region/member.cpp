// SPDX-License-Identifier: BSD-3-Clause
#include "core/region/member.hpp"

#include <algorithm>
#include <cstddef>

namespace oriel {

MemberTable::MemberTable(const std::vector<Member>& members, bool atomics) {
  if (!std::ranges::all_of(members, &Member::mapped)) far_.resize(members.size());
  if (atomics) atomics_.resize(members.size());
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& member = members[rank];
    if (atomics) atomics_[rank] = {member.atomic_memory, member.atomic_process};
    if (member.mapped()) {
      mapped_ranks_.push_back(static_cast<int>(rank));
      mapped_.push_back(member);
      if (member.pieces != nullptr)
        mapped_.back().private_memory = false;  // each piece has its own
    } else {
      far_[rank] = {member.size,
                    member.disp_unit,
                    member.memory,
                    member.window,
                    static_cast<std::uint32_t>(member.process) & 0x7fffffff,
                    member.direct ? 1u : 0u};
    }
  }
}

const Member* MemberTable::find_mapped_member(int rank) const {
  const auto position = std::ranges::lower_bound(mapped_ranks_, rank);
  const bool found = position != mapped_ranks_.end() && *position == rank;
  return found ? &mapped_[static_cast<std::size_t>(position - mapped_ranks_.begin())] : nullptr;
}

Member MemberTable::read_member(int rank) const {
  if (const Member* mapped = find_mapped_member(rank)) return *mapped;
  const Far& far = far_[static_cast<std::size_t>(rank)];
  Member member;
  member.path = Path::messages;
  member.process = static_cast<int>(far.process);
  member.window = far.window;
  member.size = far.size;
  member.disp_unit = far.disp_unit;
  member.direct = far.direct != 0;
  member.memory = far.memory;
  if (!atomics_.empty()) {
    const Atomics& atomic = atomics_[static_cast<std::size_t>(rank)];
    member.atomic_process = atomic.process;
    member.atomic_memory = atomic.memory;
  }
  return member;
}

}  // namespace oriel
