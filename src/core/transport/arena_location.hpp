// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace oriel {

/// Where memory lies that a process shares with its node. Plain bytes, to travel through the host's
/// collectives and to lie in shared words. Extents have powers of two as sizes and lie at multiples
/// of them in the process's file.
struct ArenaLocation {
  std::uint64_t offset = 0;        // in the file
  std::uint64_t extent_bytes = 0;  // of the extent it lies in; 0: it is not shared

  std::uint64_t extent() const { return offset & ~(extent_bytes - 1); }
  bool shared() const { return extent_bytes != 0; }
};
static_assert(std::is_trivially_copyable_v<ArenaLocation> && sizeof(ArenaLocation) == 16);

}  // namespace oriel
