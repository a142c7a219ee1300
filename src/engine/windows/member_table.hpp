// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/region/member.hpp"

namespace oriel {

/// Who every rank of a window is, as it was found out when the window was made (B8): the few that
/// are mapped as they are, of all others what cannot be said in less.
class MemberTable final : public MemberResolver {
 public:
  /// `atomics`: of every rank, the way of the network's atomics.
  MemberTable(const std::vector<Member>& members, bool atomics);

  Member find(int rank) override;

 private:
  /// A rank that is reached by messages.
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

  std::vector<std::pair<int, Member>> mapped_;  // by rank
  std::vector<Far> far_;                        // of all ranks, if any is
  std::vector<Atomics> atomics_;                // of all ranks, if there are any
};

}  // namespace oriel
