// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/collective/schedule.hpp"

namespace oriel {

/// A schedule and the memory that it uses besides the program's, which its plan needs as long as it
/// lives.
struct MadeSchedule {
  Schedule schedule;
  std::unique_ptr<std::byte[]> scratch;
  std::uint64_t scratch_bytes = 0;
};

}  // namespace oriel
