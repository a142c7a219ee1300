// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace oriel {

/// An IPv6 address, or an IPv4 address in its IPv6 form (::ffff:a.b.c.d), which sockets of both
/// families use.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  /// `address`: in the byte order of this machine.
  static constexpr IpAddress v4(std::uint32_t address) {
    IpAddress made;
    made.bytes[10] = made.bytes[11] = 0xff;
    for (unsigned i = 0; i < 4; ++i) {
      made.bytes[12 + i] = static_cast<std::uint8_t>(address >> (24 - 8 * i));
    }
    return made;
  }
  constexpr bool is_v4() const {
    IpAddress prefix = *this;
    for (unsigned i = 12; i < 16; ++i) prefix.bytes[i] = 0;
    return prefix == v4(0);
  }

  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

}  // namespace oriel
