// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "mpi/calls/host_calls.hpp"
#include "mpi/host/host.hpp"

// Oriel calls the host's functions by HostMpi alone. Its library defines each MPI call of
// mpi/calls/calls.ini under its MPI_ and its PMPI_ name, and must not depend on a library that
// defines the others.

namespace oriel::mpi {

/// The host's functions. The first call, which may precede Oriel's initialization, finds them, and
/// Open MPI's handles. Ends the process with a sentence if it has loaded no MPI library.
inline const HostMpi& host_mpi() {
  static const HostMpi found;
  return found;
}

/// Ends the process with a sentence on a function that the host lacks.
[[noreturn]] void end_for_missing_function(const std::string& name);
/// Ends the process with that sentence on the call that the program has made in this thread.
[[noreturn]] void end_for_missing_call();

/// The function that HostMpi has if the host lacks the one of that name. It ends the process.
template <typename Result, typename... Arguments>
constexpr auto missing_function(Result (*)(Arguments...)) {
  return +[](Arguments...) -> Result { end_for_missing_call(); };
}

/// Returns whether the host in use has a function of HostMpi.
template <typename Function>
bool host_has(Function* function) {
  return function != missing_function(function);
}

/// True if the program's MPI calls do not reach Oriel, because MPI was linked before it.
bool linked_behind_host();
inline constexpr const char* behind_host_words =
    "the program's calls reach the MPI library before Oriel; link Oriel in front of MPI, or start "
    "the program with oriel run";

/// MPI_T_PVAR_ALL_HANDLES, which in MPICH is a variable of its library.
MPI_T_pvar_handle all_pvar_handles();

/// The host's own result of MPI_Get_library_version: name and version of the MPI in use. One
/// library of Oriel's serves several MPIs that share an ABI.
std::string library_version();

/// Major and minor version of MPICH, also of the one that Cray MPICH is made from. None: the MPI in
/// use does not say that it is MPICH.
std::optional<std::pair<int, int>> mpich_version();

/// The value of the key. None if the info lacks it or is MPI_INFO_NULL, or if the host refuses the
/// call.
std::optional<std::string> info_value(MPI_Info info, const char* key);

}  // namespace oriel::mpi

/// Begins the definition of MPI_name, a call of mpi/calls/calls.ini.
#define ORIEL_MPI_CALL(name)                             \
  static_assert(sizeof(oriel::mpi::HostMpi::name) != 0); \
  ORIEL_DEFINE_BOTH(MPI_##name, PMPI_##name)
