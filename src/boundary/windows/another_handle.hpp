// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Gives the program another handle of a window of ours: `made` is a copy of the parent's
/// and counted among what the window has. The host's part of it is a window that lends its handle,
/// with the parent's error handler. Without the process lock.
int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<WindowHandle> made,
             MPI_Win* win);

/// Where handles like this one are counted: those of memory handles apart. With the process lock.
inline int& count_of(WindowHandle& window) {
  return window.view.has_value() ? window.state->views : window.state->handles;
}

}  // namespace oriel::boundary
