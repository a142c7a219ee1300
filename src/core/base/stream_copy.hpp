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

/// Copies past this processor's caches: another processor that is going to read the bytes need not
/// take each line from here, nor need it be taken from there before it is written. Where the two
/// share a cache that is a detour. A release that follows orders these stores as well. On
/// processors without such stores it is an ordinary copy.
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
  _mm_sfence();  // such stores keep no order, not even before a release
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace oriel
