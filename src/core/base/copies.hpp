// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
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

/// Copies past the caches of this processor. Another processor that will read the bytes then need
/// not fetch each line from here, and this processor need not fetch the lines before it writes
/// them. If the two share a cache, an ordinary copy is faster. A release that follows orders these
/// stores as well. On processors without such stores this is an ordinary copy.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __SSE2__
  constexpr std::size_t word = sizeof(__m128i);
  const std::size_t head = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % word);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; done + word <= bytes; done += word) {
    const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done), one);
  }
  std::memcpy(to + done, from + done, bytes - done);
  _mm_sfence();  // these stores are unordered, even before a release
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace oriel
