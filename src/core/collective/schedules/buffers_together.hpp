// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "core/collective/schedule.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

inline std::uint64_t bytes_in(const Buffer& buffer) {
  return buffer.layout ? buffer.count * buffer.layout->size() : 0;
}

/// So many bytes in a row.
Buffer bytes_at(void* address, std::uint64_t bytes);

/// One after the other, as one.
Buffer together(std::span<const Stretch> parts);
/// Some of the buffers, by their numbers.
Buffer together(std::span<const Buffer> buffers, std::span<const int> numbers);

}  // namespace oriel
