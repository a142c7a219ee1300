// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// Removes a handle of a window that no rank uses any more. With the last handle, destroys the
/// window. Without the process lock.
void destroy_window(WindowHandle* window);

}  // namespace oriel::mpi
