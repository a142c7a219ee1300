// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

/// Reports to `oriel run` that a process with this library has started MPI. Two further reports are
/// automatic: when the loader initializes the library, and at the end of a process that has started
/// MPI without calling it. Does nothing without `oriel run`.
void report_mpi_started();

}  // namespace oriel::boundary
