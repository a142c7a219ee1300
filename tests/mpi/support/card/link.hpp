// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "settings.hpp"

namespace card {

/// Nanoseconds of the clock that all processes of the machine share.
inline std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

inline std::uint64_t latency() {
  return Settings::get().latency_ns;
}

/// When the bytes of operations are where they go. One operation is behind the other on the way
/// out, and so are the answers on the way back.
class Link {
 public:
  /// The time at which bytes that are sent now have arrived.
  std::uint64_t sent(std::uint64_t bytes) { return pass(out_, now(), bytes) + latency(); }
  /// The time at which bytes that are asked for now have arrived.
  std::uint64_t fetched(std::uint64_t bytes) { return pass(back_, sent(0) + latency(), bytes); }

 private:
  static std::uint64_t pass(std::uint64_t& free, std::uint64_t from, std::uint64_t bytes) {
    const auto takes =
        static_cast<std::uint64_t>(static_cast<double>(bytes) / Settings::get().bytes_per_ns);
    free = std::max(free, from) + takes;
    return free;
  }

  std::uint64_t out_ = 0;
  std::uint64_t back_ = 0;
};

}  // namespace card
