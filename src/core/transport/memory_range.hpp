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

/// A range of a process's memory, and how the process's peers on its node reach it. The peers map
/// shared memory, and private memory of an exposed address space. Other private memory is reached
/// by one system call. Trivially copyable, because it is sent through the host's collectives and
/// stored in shared words.
struct MemoryRange {
  std::uint64_t address = 0;  // in its owner's process
  std::uint64_t bytes = 0;
  ArenaLocation location;  // of private memory: its offset is space()

  /// The number of the owner's exposed address space, by which its node peers map private memory.
  /// 0: they cannot.
  std::uint64_t space() const { return location.shared() ? 0 : location.offset; }
  /// Makes private memory mappable by the owner's exposed address space.
  void expose(std::uint64_t space) { location.offset = space; }
  /// True if the owner lets its node peers map the memory. A peer may still be unable to.
  bool mappable() const { return location.offset != 0 || location.shared(); }
  /// The number of the range's bytes at and behind `where`; 0: `where` is not in the range.
  std::uint64_t bytes_from(std::uint64_t where) const {
    return where - address < bytes ? bytes - (where - address) : 0;
  }
};
static_assert(std::is_trivially_copyable_v<MemoryRange> && sizeof(MemoryRange) == 32);

}  // namespace oriel
