// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/calls/host_calls.hpp"

// The library answers to each MPI call of boundary/calls/calls.ini under its MPI_ and its PMPI_
// name. Calls of ours to the host itself must therefore go around both names.

namespace oriel::boundary {

/// The host's own functions, found at the first call, which may come before our own initialization.
inline const HostMpi& host_mpi() {
  static const HostMpi found;
  return found;
}

}  // namespace oriel::boundary

/// Begins the definition of MPI_name, one of that table.
#define ORIEL_MPI_CALL(name)                                  \
  static_assert(sizeof(oriel::boundary::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
