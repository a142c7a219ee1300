// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/operation/operation.hpp"

namespace oriel {

/// The indices of two buffers, the lower one first.
using BufferPair = std::pair<std::size_t, std::size_t>;

/// Two buffers that share a byte; twice the same index for a buffer that has a byte twice. The
/// steps are about as many as the runs of the buffers, however these interleave: visits of runs and
/// of words of a map, and comparisons of runs that are sorted instead. `steps` receives their
/// number unless it is null.
std::optional<BufferPair> find_overlap(std::span<const Buffer> buffers,
                                       std::uint64_t* steps = nullptr);

}  // namespace oriel
