// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/transport/arena_location.hpp"

namespace oriel {

/// A range of a process's memory, and how the process's peers on its node reach it. The peers map
/// its shared part: all of it, none, or the part between two private ends. Private bytes are
/// reached by one system call. Trivially copyable, because it is sent through the host's
/// collectives and stored in shared words.
struct MemoryRange {
  std::uint64_t address = 0;  // in its owner's process
  std::uint64_t bytes = 0;
  ArenaLocation location;  // of the shared part
  std::uint32_t head = 0;  // private bytes before the shared part
  std::uint32_t tail = 0;  // private bytes behind the shared part

  /// Returns whether peers can load and store every byte of the range.
  bool wholly_shared() const { return location.shared() && (head | tail) == 0; }
  std::uint64_t shared_bytes() const { return location.shared() ? bytes - head - tail : 0; }
  /// The number of the range's bytes at and behind `where`; 0: `where` is not in the range.
  std::uint64_t left(std::uint64_t where) const {
    return where - address < bytes ? bytes - (where - address) : 0;
  }
};
static_assert(std::is_trivially_copyable_v<MemoryRange> && sizeof(MemoryRange) == 40);

}  // namespace oriel
