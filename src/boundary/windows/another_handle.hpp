// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Another handle of the parent's window, before it has a value, with the parent's error handler,
/// and without its name and attributes. With the process lock.
std::unique_ptr<WindowHandle> copy_handle(const WindowHandle& parent);

/// Gives the program another handle of a window of ours: `made` is from copy_handle(), and counted
/// among what the window has. Without the process lock.
int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<WindowHandle> made,
             MPI_Win* win);

/// Where handles like this one are counted: those of memory handles apart. With the process lock.
inline int& count_of(WindowHandle& window) {
  return window.view.has_value() ? window.state->views : window.state->handles;
}

}  // namespace oriel::boundary
