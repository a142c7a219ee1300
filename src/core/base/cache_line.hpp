// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace oriel {

inline constexpr std::size_t cache_line = 64;

}  // namespace oriel
