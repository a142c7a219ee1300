// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

/// A handle of the window that this process has given the number; null: there is none, or it is
/// still being made. With the process lock.
inline const WindowHandle* numbered_window(std::uint32_t number) {
  for (const auto& [window, owned] : runtime.owned_handles) {
    if (window->core->id() == number) return window;
  }
  return nullptr;
}

}  // namespace oriel::boundary
