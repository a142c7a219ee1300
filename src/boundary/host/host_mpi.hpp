// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/calls/host_calls.hpp"

// Oriel's library defines each MPI call of boundary/calls/calls.ini under its MPI_ and its PMPI_
// name. Oriel's own calls to the host therefore must not use either name.

namespace oriel::boundary {

/// The host's own functions. The first call, which may precede Oriel's initialization, finds them.
inline const HostMpi& host_mpi() {
  static const HostMpi found;
  return found;
}

/// True if the program's MPI calls do not reach Oriel, because MPI was linked before it.
bool linked_behind_host();
inline constexpr const char* behind_host_words =
    "the program's calls reach the MPI library before Oriel; link Oriel in front of MPI, or start "
    "the program with oriel run";

}  // namespace oriel::boundary

/// Begins the definition of MPI_name, a call of boundary/calls/calls.ini.
#define ORIEL_MPI_CALL(name)                                  \
  static_assert(sizeof(oriel::boundary::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
