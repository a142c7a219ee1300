// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "support/check.hpp"
#include "support/open_descriptors.hpp"

namespace support {

/// What this process holds at one moment. A test takes it after it has warmed up, and asks at its
/// end whether anything has piled up since.
class Footprint {
 public:
  Footprint() : pages_(resident_pages()), descriptors_(open_descriptors()) {}

  /// Pages that have come since.
  long growth() const { return resident_pages() - pages_; }
  /// Beside `pages` of what else goes on in a process.
  void check_flat(long pages) const {
    // AddressSanitizer keeps what has been freed for a while.
    const bool keeps = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr;
    const long grown = growth();
    if (!keeps && grown > pages) fail(__FILE__, __LINE__, std::to_string(grown) + " pages more");
    check_descriptors();
  }
  void check_descriptors() const { CHECK(open_descriptors() <= descriptors_); }

 private:
  static long resident_pages() {
    long size = 0;
    long resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%ld %ld", &size, &resident) == 2);
    std::fclose(file);
    return resident;
  }

  long pages_;
  long descriptors_;
};

}  // namespace support
