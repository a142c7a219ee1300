// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

/// Tells `oriel run` that a process with this library in it has started MPI. That the library has
/// been loaded is reported when the loader initializes it, and when the process ends, that it has
/// started MPI past this library. Without `oriel run` nothing is done.
void report_mpi_started();

}  // namespace oriel::boundary
