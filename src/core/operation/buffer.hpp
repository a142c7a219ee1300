// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/operation/layout.hpp"

namespace oriel {

/// `count` elements of a datatype at an address of this process.
struct Buffer {
  void* address = nullptr;
  std::uint64_t count = 0;
  LayoutRef layout;

  Elements elements() const { return {*layout, count}; }
  /// Copies `bytes` bytes of the elements, from byte number `first` on, to contiguous memory.
  void pack(std::uint64_t first, std::uint64_t bytes, std::byte* to) const;
  /// Copies contiguous memory to `bytes` bytes of the elements, from byte number `first` on.
  void unpack(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const;
};

}  // namespace oriel
