// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The start time of the process, in clock ticks since boot. Process id and start time identify a
/// process even if the id is used again. Zero if there is no such process, or only its zombie.
std::uint64_t process_start(std::int32_t pid);

/// True if the process with this id and start time runs, or may run. If `start` is zero, any
/// process with this id counts.
bool process_alive(std::int32_t pid, std::uint64_t start);

}  // namespace oriel
