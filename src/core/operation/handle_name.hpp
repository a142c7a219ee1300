// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// What names a memory handle (Q5) towards its owner.
struct HandleName {
  std::uint64_t token = 0;  // unlike that of any other handle of its owner; 0: no handle
  std::uint32_t slot = 0;

  bool given() const { return token != 0; }
};

}  // namespace oriel
