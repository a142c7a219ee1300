// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace oriel {

/// Registers for fence_threads(). Returns whether the system supports it for this process.
inline bool fences_threads() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/// A full memory fence on every processor that executes a thread of this process.
inline void fence_threads() {
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace oriel
