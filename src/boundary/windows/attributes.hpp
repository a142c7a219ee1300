// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/runtime/bound_window.hpp"

namespace oriel::boundary {

/// Deletes the attributes that the program has set by MPI's C names, so that their delete callbacks
/// run while nobody waits for us: a callback may wait for another thread that makes a window. Ends
/// at the first callback that fails, with its error. Without the process lock.
int delete_attributes(BoundWindow& window);

}  // namespace oriel::boundary
