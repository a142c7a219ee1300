// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "core/collective/schedule.hpp"

namespace oriel {

/// What a schedule uses besides the program's buffers.
struct ScheduleMemory {
  std::unique_ptr<std::byte[]> scratch;
  std::unique_ptr<std::byte[]> packed;  // vectors without the gaps of their datatype
};

/// A schedule and its memory, which its plan needs as long as it lives.
struct MadeSchedule {
  Schedule schedule;
  ScheduleMemory memory;
  std::uint64_t scratch_bytes = 0;

  /// Makes it, of so many parts. Throws std::bad_alloc where there is no such memory.
  std::byte* take_scratch(std::uint64_t bytes, std::uint64_t parts = 1) {
    if (__builtin_mul_overflow(bytes, parts, &scratch_bytes)) throw std::bad_alloc();
    memory.scratch.reset(new std::byte[scratch_bytes]);
    return memory.scratch.get();
  }
};

}  // namespace oriel
