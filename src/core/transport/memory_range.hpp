// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/transport/arena_location.hpp"

namespace oriel {

/// A range of a process's memory, and where it is for the peers of the process on its node. They
/// map its shared part: all of it, none of it, or what lies between two private ends. Private bytes
/// are one system call away. Plain bytes, to travel through the host's collectives and to lie in
/// shared words.
struct MemoryRange {
  std::uint64_t address = 0;  // in its owner's process
  std::uint64_t bytes = 0;
  ArenaLocation location;  // of the shared part
  std::uint32_t head = 0;  // private bytes before the shared part,
  std::uint32_t tail = 0;  // and behind it

  /// Peers load and store every byte of it.
  bool wholly_shared() const { return location.shared() && (head | tail) == 0; }
  std::uint64_t shared_bytes() const { return location.shared() ? bytes - head - tail : 0; }
  /// How many of its bytes lie at `where` and behind; 0: that is not in it.
  std::uint64_t left(std::uint64_t where) const {
    return where - address < bytes ? bytes - (where - address) : 0;
  }
};
static_assert(std::is_trivially_copyable_v<MemoryRange> && sizeof(MemoryRange) == 40);

}  // namespace oriel
