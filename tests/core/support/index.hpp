// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace oriel::test {

/// A rank, or another number, as an index of what is kept for each.
inline std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace oriel::test
