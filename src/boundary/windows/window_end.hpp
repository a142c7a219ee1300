// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Forgets a handle of a window that no rank uses any more, and with the last one the window.
/// `keep`: the host still has its window behind it. Without the process lock.
void destroy_window(WindowHandle* window, bool keep);

}  // namespace oriel::boundary
