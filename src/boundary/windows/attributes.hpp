// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// An attribute of a window of ours that no program sets: C is given the address of a value (of
/// MPI_WIN_BASE the base itself), Fortran the value (MPI-4.1 section 12.2.6).
struct PredefinedAttribute {
  void* address = nullptr;
  MPI_Aint value = 0;
};

/// Empty: no window of ours, or another attribute. The host is asked then.
std::optional<PredefinedAttribute> predefined_attribute(MPI_Win handle, int keyval);

/// The program has set an attribute on the host's window behind a handle.
void note_attribute(MPI_Win handle, int keyval);

/// Deletes the attributes that the program has set, so that their delete callbacks run while nobody
/// waits for us: a callback may wait for another thread that makes a window. Ends at the first
/// callback that fails, with its error. Without the process lock.
int delete_attributes(WindowHandle& window);

}  // namespace oriel::boundary
