// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace oriel {

/// The place of memory that a process shares with its node. Trivially copyable, because it is sent
/// through the host's collectives and stored in shared words. The size of an extent is a power of
/// two, and its offset in the process's file is a multiple of its size.
struct ArenaLocation {
  std::uint64_t offset = 0;        // in the file; if not shared, see MemoryRange::space()
  std::uint64_t extent_bytes = 0;  // of the extent that contains the memory; 0: not shared

  std::uint64_t extent() const { return offset & ~(extent_bytes - 1); }
  bool shared() const { return extent_bytes != 0; }
};
static_assert(std::is_trivially_copyable_v<ArenaLocation> && sizeof(ArenaLocation) == 16);

}  // namespace oriel
