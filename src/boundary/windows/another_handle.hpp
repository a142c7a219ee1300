// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/host/host.hpp"
#include "boundary/runtime/bound_window.hpp"

namespace oriel::boundary {

/// Gives the program another handle of a window that we carry: `made` is a copy of the parent's
/// and counted among what the window has. The host's part of it is a window that lends its handle,
/// with the parent's error handler. Without the process lock.
int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<BoundWindow> made,
             MPI_Win* win);

/// One handle less.
void count_off(BoundWindow& window);

}  // namespace oriel::boundary
