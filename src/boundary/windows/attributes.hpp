// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Deletes the attributes that the program has set by MPI's C names, so that their delete callbacks
/// run while nobody waits for us: a callback may wait for another thread that makes a window. Ends
/// at the first callback that fails, with its error. Without the process lock.
int delete_attributes(WindowHandle& window);

}  // namespace oriel::boundary
