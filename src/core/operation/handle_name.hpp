// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// Identifies a memory handle (Q5) at its owner.
struct HandleName {
  std::uint64_t token = 0;  // unique among all handles of the owner; 0: no handle
  std::uint32_t slot = 0;

  bool given() const { return token != 0; }
};

}  // namespace oriel
