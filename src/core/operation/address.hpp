// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// `offset` bytes from `address`. Computed with integers, because with MPI_BOTTOM the address is
/// null and the offset is the whole address.
inline std::byte* at(void* address, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(offset));
}

/// Computes the offset of byte `low` behind a displacement, in bytes from the start of the window's
/// memory. A negative offset becomes a huge number, which within() refuses. False if it does not
/// fit into 64 bits.
inline bool byte_offset(std::int64_t displacement, std::uint64_t disp_unit, std::int64_t low,
                        std::uint64_t& offset) {
  std::int64_t product;
  std::int64_t sum;
  // The product must not wrap into the window.
  if (__builtin_mul_overflow(displacement, static_cast<std::int64_t>(disp_unit), &product) ||
      __builtin_add_overflow(product, low, &sum)) {
    return false;
  }
  offset = static_cast<std::uint64_t>(sum);
  return true;
}

/// True if `bytes` bytes from `offset` on are within memory of `size` bytes.
constexpr bool within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

}  // namespace oriel
