// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace oriel {

/// True if a file may have `bytes` bytes. Beyond the limit on file sizes (ulimit -f) the kernel
/// sends a signal instead of returning an error.
inline bool within_file_limit(std::uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

}  // namespace oriel
