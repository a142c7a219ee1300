// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oriel {

/// Copies a few bytes inline: a call of memmove for an unknown length would cost more than the copy
/// itself. The ranges may overlap.
inline void short_copy(void* to, const void* from, std::size_t bytes) {
  // Copies the first and the last word, which overlap if the length is between one and two words.
  const auto by = [&]<typename Word>(Word first, Word last) {
    const std::size_t back = bytes - sizeof(Word);
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, static_cast<const std::byte*>(from) + back, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(static_cast<std::byte*>(to) + back, &last, sizeof last);
  };
  struct Sixteen {
    std::uint64_t words[2];
  };
  if (bytes > 32) [[unlikely]] {
    std::memmove(to, from, bytes);
  } else if (bytes > 16) {
    by(Sixteen{}, Sixteen{});
  } else if (bytes >= 8) {
    by(std::uint64_t{}, std::uint64_t{});
  } else if (bytes >= 4) {
    by(std::uint32_t{}, std::uint32_t{});
  } else if (bytes >= 2) {
    by(std::uint16_t{}, std::uint16_t{});
  } else if (bytes != 0) {
    by(std::uint8_t{}, std::uint8_t{});
  }
}

}  // namespace oriel
