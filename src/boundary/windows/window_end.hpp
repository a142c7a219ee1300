// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Forgets a handle of a window that no rank uses any more, and with the last one the window.
/// Without the process lock.
void destroy_window(WindowHandle* window);

}  // namespace oriel::boundary
