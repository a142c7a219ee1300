// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

namespace support {

/// An argument that is a number above 0; without it, or for anything else, `otherwise`.
inline long number(int argc, char** argv, int index, long otherwise) {
  return index < argc && std::atol(argv[index]) > 0 ? std::atol(argv[index]) : otherwise;
}

}  // namespace support
