// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// A predefined attribute of a window. C receives `address`, which is the base for MPI_WIN_BASE and
/// the address of the value else; Fortran receives `value` (MPI-4.1 section 12.2.6).
struct PredefinedAttribute {
  void* address = nullptr;
  MPI_Aint value = 0;
};

/// Returns nothing if the window is not ours or the attribute is not predefined: the host is to be
/// asked. The host's windows have no notification counters.
std::optional<PredefinedAttribute> predefined_attribute(MPI_Win handle, int keyval);

/// Records that the program has set `keyval`, so that delete_attributes() deletes it.
void note_attribute(MPI_Win handle, int keyval);

/// Deletes the attributes that the program has set, so that their delete callbacks run while nobody
/// waits for us: a callback may wait for another thread that makes a window. Ends at the first
/// callback that fails, with its error. Without the process lock.
int delete_attributes(WindowHandle& window);

}  // namespace oriel::boundary
