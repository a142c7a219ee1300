// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// When the process started, in clock ticks since boot: with its id it names a process for good.
/// Zero when there is no such process, or only its zombie.
std::uint64_t process_start(std::int32_t pid);

/// Whether that very process still runs. False only when that is certain; a `start` of zero takes
/// any process of that id.
bool process_alive(std::int32_t pid, std::uint64_t start);

}  // namespace oriel
