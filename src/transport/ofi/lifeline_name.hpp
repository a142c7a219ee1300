// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "transport/ofi/ip_address.hpp"

namespace oriel {

/// The name by which processes of other nodes find a process's lifeline. Trivially copyable, like
/// EndpointName.
struct LifelineName {
  using Words = std::array<std::uint64_t, 2>;
  static constexpr std::size_t most_addresses = 4;
  /// Random. Processes of the job receive it by the host's collectives; others do not know it.
  Words token{};
  /// The process's node.
  Words node{};
  /// The addresses at which its socket listens, the best first; unused ones are zero.
  std::array<IpAddress, most_addresses> addresses{};
  std::uint16_t port = 0;  // 0: there is none
  /// A port of the addresses that is bound and at which no socket listens; 0: there is none.
  std::uint16_t refusing_port = 0;
  /// 1: the one address is that of the process's endpoint.
  std::uint32_t of_endpoint = 0;
};
static_assert(std::is_trivially_copyable_v<LifelineName>);

}  // namespace oriel
