// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/shm/segment.hpp"

namespace oriel {

/// Memory for the program (MPI_Alloc_mem) that peers can map when a window is created on it. Large
/// pieces have a segment each. Small ones share segments, one power of two per segment, because a
/// segment costs a descriptor. Not thread-safe.
class SegmentAllocator {
 public:
  /// A range of memory, as a peer finds it.
  struct Place {
    SegmentName segment;
    std::uint64_t offset = 0;
  };

  /// At least `bytes` bytes at a multiple of `alignment` (a power of two). Null on failure, and
  /// `error` is a sentence.
  void* allocate(std::size_t bytes, std::size_t alignment, std::string& error);
  /// False, and nothing done, if the pointer did not come from allocate() or is free already.
  bool free(void* pointer);
  /// Where the range lies, if it lies in one segment of ours.
  std::optional<Place> find(const void* address, std::size_t bytes) const;

  static constexpr std::size_t smallest = 64;  // a cache line: pieces share none
  static constexpr std::size_t largest_small = std::size_t{64} * 1024;

 private:
  struct Holding {
    Segment segment;
    std::size_t unit = 0;        // size of its small pieces; 0: one large piece
    std::byte* piece = nullptr;  // the large piece
    std::vector<bool> used;      // by small piece
  };
  using Holdings = std::map<std::uintptr_t, Holding>;  // by the segment's first address

  static constexpr std::size_t small_classes = 11;
  static_assert(smallest << (small_classes - 1) == largest_small);
  static constexpr std::size_t shared_segment = std::size_t{1024} * 1024;

  void* allocate_small(std::size_t size_class, std::string& error);
  void* allocate_large(std::size_t bytes, std::size_t alignment, std::string& error);
  Holdings::const_iterator holding_of(const void* address) const;

  Holdings holdings_;
  std::array<std::vector<std::byte*>, small_classes> free_;
};

}  // namespace oriel
