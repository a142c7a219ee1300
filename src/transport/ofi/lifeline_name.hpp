// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace oriel {

/// The name by which processes of other nodes find a process's lifeline. Trivially copyable, like
/// EndpointName.
struct LifelineName {
  using Words = std::array<std::uint64_t, 2>;
  std::array<std::byte, 32> address{};  // of its socket
  std::uint32_t address_bytes = 0;      // 0: there is none
  std::uint32_t reserved = 0;
  /// Random. Processes of the job receive it by the host's collectives; others do not know it.
  Words token{};
  /// The address of the process's node.
  Words node{};
};
static_assert(std::is_trivially_copyable_v<LifelineName>);

}  // namespace oriel
