// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <iterator>

namespace support {

/// How many this process has, and one that looks.
inline long open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

}  // namespace support
