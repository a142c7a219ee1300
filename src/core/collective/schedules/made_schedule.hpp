// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// The memory that a schedule uses besides the program's buffers.
struct ScheduleMemory {
  std::unique_ptr<std::byte[]> scratch;
  std::unique_ptr<std::byte[]> packed;  // vectors without the gaps of their datatype
};

/// A schedule and its memory, which must live as long as the schedule's plan.
struct MadeSchedule {
  Schedule schedule;
  ScheduleMemory memory;
  std::uint64_t scratch_bytes = 0;

  /// Allocates `scratch` for `parts` parts of `bytes` bytes. Throws std::bad_alloc if that fails.
  std::byte* take_scratch(std::uint64_t bytes, std::uint64_t parts = 1) {
    if (__builtin_mul_overflow(bytes, parts, &scratch_bytes)) throw std::bad_alloc();
    memory.scratch.reset(new std::byte[scratch_bytes]);
    return memory.scratch.get();
  }
};

inline std::uint64_t bytes_in(const Buffer& buffer) {
  return buffer.layout ? buffer.count * buffer.layout->size() : 0;
}

/// A buffer of `bytes` contiguous bytes.
Buffer bytes_at(void* address, std::uint64_t bytes);

/// The parts, one after the other, as one buffer.
Buffer together(std::span<const Stretch> parts);
/// The buffers with these numbers, one after the other, as one buffer.
Buffer together(std::span<const Buffer> buffers, std::span<const int> numbers);

}  // namespace oriel
