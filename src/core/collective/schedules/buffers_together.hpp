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

/// A buffer of `bytes` contiguous bytes.
Buffer bytes_at(void* address, std::uint64_t bytes);

/// The parts, one after the other, as one buffer.
Buffer together(std::span<const Stretch> parts);
/// The buffers with these numbers, one after the other, as one buffer.
Buffer together(std::span<const Buffer> buffers, std::span<const int> numbers);

}  // namespace oriel
