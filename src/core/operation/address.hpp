// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// `offset` bytes from `address`. By integers: with MPI_BOTTOM the address is null and the offset
/// is the whole address.
inline std::byte* at(void* address, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                      static_cast<std::uintptr_t>(offset));
}

}  // namespace oriel
