// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace oriel {

/// The name by which other processes find an endpoint. Trivially copyable, because it is sent
/// through the host's collectives.
struct EndpointName {
  std::uint64_t id = 0;                  // random; 0: there is no endpoint
  std::array<char, 32> provider{};       // the provider's name in libfabric
  std::array<std::byte, 256> address{};  // libfabric's address
  std::uint32_t address_bytes = 0;
  std::uint32_t longest_packet = 0;  // bytes; it has no receives for longer ones
};
static_assert(std::is_trivially_copyable_v<EndpointName>);

}  // namespace oriel
