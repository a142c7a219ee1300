// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/transport/arena_location.hpp"

namespace oriel {

/// A range of a process's memory, and how the process's peers on its node reach it. The peers map
/// shared memory. Private memory is reached by one system call. Trivially copyable, because it is
/// sent through the host's collectives and stored in shared words.
struct MemoryRange {
  std::uint64_t address = 0;  // in its owner's process
  std::uint64_t bytes = 0;
  ArenaLocation location;  // of shared memory

  /// The number of the range's bytes at and behind `where`; 0: `where` is not in the range.
  std::uint64_t left(std::uint64_t where) const {
    return where - address < bytes ? bytes - (where - address) : 0;
  }
};
static_assert(std::is_trivially_copyable_v<MemoryRange> && sizeof(MemoryRange) == 32);

}  // namespace oriel
