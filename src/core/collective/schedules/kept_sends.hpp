// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/collective/schedule.hpp"

namespace oriel {

/// The data that an exchange in place sends: for each rank the content of its receive buffer at the
/// start, copied before any data can arrive.
struct KeptSends {
  /// Bytes of memory for the copies. Our own block is not copied.
  static std::uint64_t bytes(int rank, std::span<const Buffer> buffers);

  KeptSends(int rank, std::span<const Buffer> buffers, std::byte* memory);

  std::vector<Buffer> sends;  // by rank, in the memory
  std::vector<Schedule::Copy> copies;
};

}  // namespace oriel
