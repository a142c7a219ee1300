// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel {

/// Hint to the processor that this is a spin loop: saves power and lets the sibling hyperthread
/// run.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace oriel
