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

/// Whether the program's MPI calls go past this library, because the MPI was linked before it.
bool linked_behind_host();
inline constexpr const char* behind_host_words =
    "the program's calls reach the MPI library before Oriel; link Oriel in front of MPI, or start "
    "the program with oriel run";

}  // namespace oriel::boundary

/// Begins the definition of MPI_name, one of that table.
#define ORIEL_MPI_CALL(name)                                  \
  static_assert(sizeof(oriel::boundary::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
