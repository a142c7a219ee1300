// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/region/member.hpp"

namespace oriel {

/// The members of a window, as found when the window was made (B8). Mapped ranks, which are few,
/// are stored as Member; all others in the shortest form, from which find() makes a Member.
class MemberTable {
 public:
  MemberTable() = default;
  /// `atomics`: each rank has an address for the network's atomics.
  MemberTable(const std::vector<Member>& members, bool atomics);

  Member find(int rank) const;
  /// The member of a mapped rank, which exists as long as the table; null: the rank is remote.
  const Member* find_mapped(int rank) const;
  /// All mapped ranks, our own included, in ascending order.
  const std::vector<int>& mapped_ranks() const { return mapped_ranks_; }

 private:
  /// A rank that is reached by messages. See Member.
  struct Far {
    std::uint64_t size;
    std::uint64_t disp_unit;
    RemoteMemory memory;
    std::uint32_t window;
    std::uint32_t process : 31;
    std::uint32_t direct : 1;
  };
  static_assert(sizeof(Far) == 40);
  struct Atomics {
    RemoteMemory memory;
    int process;
  };

  std::vector<int> mapped_ranks_;
  std::vector<Member> mapped_;    // of mapped_ranks_
  std::vector<Far> far_;          // of all ranks; empty: all are mapped
  std::vector<Atomics> atomics_;  // of all ranks; empty: the window has none
};

}  // namespace oriel
