// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>

#include "support/check.hpp"

namespace support {

/// Pages of memory that this process has now.
inline long resident_pages() {
  long size = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  CHECK(file != nullptr && std::fscanf(file, "%ld %ld", &size, &resident) == 2);
  std::fclose(file);
  return resident;
}

}  // namespace support
