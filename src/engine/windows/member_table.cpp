// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/member_table.hpp"

#include <algorithm>
#include <cstddef>

namespace oriel {

MemberTable::MemberTable(const std::vector<Member>& members, bool atomics) {
  const auto mapped = [](const Member& member) { return member.control != nullptr; };
  if (!std::ranges::all_of(members, mapped)) far_.resize(members.size());
  if (atomics) atomics_.resize(members.size());
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& member = members[rank];
    if (atomics) atomics_[rank] = {member.atomic_memory, member.atomic_process};
    if (mapped(member)) {
      mapped_.emplace_back(static_cast<int>(rank), member);
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

Member MemberTable::find(int rank) {
  const auto place = std::ranges::lower_bound(mapped_, rank, {}, &std::pair<int, Member>::first);
  if (place != mapped_.end() && place->first == rank) return place->second;
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
