// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace oriel {

/// How processes of other nodes find the lifeline of this one. Plain bytes, as an EndpointName is.
struct LifelineName {
  using Words = std::array<std::uint64_t, 2>;
  std::array<std::byte, 32> address{};  // of its socket
  std::uint32_t address_bytes = 0;      // 0: there is none
  std::uint32_t reserved = 0;
  /// Random. Processes of the job have it by the host's collectives, others do not.
  Words token{};
  /// The address of its node.
  Words node{};
};
static_assert(std::is_trivially_copyable_v<LifelineName>);

}  // namespace oriel
