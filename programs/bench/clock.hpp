// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <time.h>

#include <cstdint>

namespace bench {

/// Nanoseconds of a clock that all processes of a node share.
inline std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline double us_of(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

inline double now_us() {
  return us_of(now_ns());
}

inline void sleep_until_ns(std::int64_t when) {
  const timespec time{when / 1'000'000'000, when % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

}  // namespace bench
