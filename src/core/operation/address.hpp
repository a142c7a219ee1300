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

/// The nearest multiple of `unit`, a power of two, that is not above, or not below, the number.
constexpr std::uint64_t round_down(std::uint64_t number, std::uint64_t unit) {
  return number & ~(unit - 1);
}
constexpr std::uint64_t round_up(std::uint64_t number, std::uint64_t unit) {
  return round_down(number + unit - 1, unit);
}

/// True if `bytes` bytes from `offset` on are within memory of `size` bytes.
constexpr bool within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

/// Computes the offset of a displacement in bytes. False if it does not fit into 64 bits, so that
/// it could wrap into the window.
inline bool byte_offset(std::int64_t displacement, std::uint64_t disp_unit, std::int64_t& offset) {
  return !__builtin_mul_overflow(displacement, static_cast<std::int64_t>(disp_unit), &offset);
}

/// The range of an operation in memory of `size` bytes: computes the offset of the first of `bytes`
/// bytes that begin `low` bytes behind a displacement. False if not all of them are within the
/// memory.
inline bool find_range(std::int64_t displacement, std::uint64_t disp_unit, std::int64_t low,
                       std::uint64_t bytes, std::uint64_t size, std::uint64_t& offset) {
  std::int64_t start;
  std::int64_t sum;
  if (!byte_offset(displacement, disp_unit, start) || __builtin_add_overflow(start, low, &sum)) {
    return false;
  }
  offset = static_cast<std::uint64_t>(sum);  // a negative offset becomes a huge number
  return within(offset, bytes, size);
}

}  // namespace oriel
