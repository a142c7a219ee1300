// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/collective/schedule.hpp"

namespace oriel {

/// What an exchange in place sends: what the buffer for what comes from a rank holds at the start,
/// of which a copy is made before anything can arrive.
struct KeptSends {
  /// How much memory that takes; without our own block, which stays where it is.
  static std::uint64_t bytes(int rank, std::span<const Buffer> buffers);

  KeptSends(int rank, std::span<const Buffer> buffers, std::byte* memory);

  std::vector<Buffer> sends;  // by rank, in the memory
  std::vector<Schedule::Copy> copies;
};

}  // namespace oriel
