// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace support {

/// Number and name of each descriptor that this process has open; one that looks is among them.
inline std::map<std::string, std::string> open_descriptor_names() {
  std::map<std::string, std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // by another thread since it was listed
    names[entry.path().filename()] = std::filesystem::read_symlink(entry.path(), closed);
  }
  return names;
}

inline long open_descriptors() {
  return static_cast<long>(open_descriptor_names().size());
}

}  // namespace support
