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
