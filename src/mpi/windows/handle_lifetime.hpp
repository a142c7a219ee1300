// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "mpi/host/host.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// Makes another handle of the parent's window, with the parent's error handler, and without its
/// name and attributes. The handle has no value yet. With the process lock.
std::unique_ptr<WindowHandle> copy_handle(const WindowHandle& parent);

/// Gives the program another handle of a window of Oriel's: `made` is from copy_handle(), and has
/// been counted (count_of()). Without the process lock.
int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<WindowHandle> made,
             MPI_Win* win);

/// Removes a handle of a window that no rank uses any more. With the last handle, destroys the
/// window. Without the process lock.
void destroy_window(WindowHandle* window);

/// The count of handles of this kind: those of memory handles are counted separately. With the
/// process lock.
inline int& count_of(WindowHandle& window) {
  return window.view.has_value() ? window.state->views : window.state->handles;
}

}  // namespace oriel::mpi
