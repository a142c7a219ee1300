// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "mpi/calls/host_calls.hpp"
#include "mpi/host/host.hpp"

// Oriel's library defines each MPI call of mpi/calls/calls.ini under its MPI_ and its PMPI_
// name. Oriel's own calls to the host therefore must not use either name.

namespace oriel::mpi {

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

/// The host's own result of MPI_Get_library_version: name and version of the MPI in use. One library
/// of Oriel's serves several MPIs that share an ABI.
std::string library_version();

/// The value of the key. None if the info lacks it or is MPI_INFO_NULL, or if the host refuses the
/// call.
std::optional<std::string> info_value(MPI_Info info, const char* key);

}  // namespace oriel::mpi

/// Begins the definition of MPI_name, a call of mpi/calls/calls.ini.
#define ORIEL_MPI_CALL(name)                             \
  static_assert(sizeof(oriel::mpi::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
