// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <time.h>

#include <cstdint>

namespace oriel {

inline std::uint64_t nanoseconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Nanoseconds after which a long wait or a stalled queue checks again that the processes it
/// depends on live.
inline constexpr std::uint64_t peer_check_interval = 100'000'000;

}  // namespace oriel
