// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <type_traits>
#include <vector>

// The only file that checks for which host MPI this build is. mpi.h is the host's own header:
// MPICH's (also Intel MPI's ABI), Open MPI's, or with MPI_ABI the MPI-5 standard ABI's.

#ifdef OPEN_MPI
#define ORIEL_HOST_IS_OPEN_MPI 1
#else
#define ORIEL_HOST_IS_OPEN_MPI 0
#endif

// The large-count names (MPI_Put_c, ...) are defined only if the host has them, because programs
// bind to them weakly and use them if they are present.
#define ORIEL_HOST_LARGE_COUNTS (MPI_VERSION >= 4)

#ifdef OPEN_MPI
#include "mpi/host/open_mpi_handles.hpp"
#endif

#if MPI_VERSION < 4
// Open MPI 5, which calls itself MPI-3.1, has it; Oriel asks host_has() before it calls it.
// NOLINTNEXTLINE(readability-redundant-declaration)
extern "C" int PMPI_Comm_idup_with_info(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*);
#endif

// Sessions came with MPI-4.0, and with Open MPI 5, which calls itself MPI-3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define ORIEL_HOST_SESSIONS 1
#else
#define ORIEL_HOST_SESSIONS 0
#endif

// Persistent collectives came with MPI-4.0, too, and with Open MPI 5.
#define ORIEL_HOST_PERSISTENT_COLLECTIVES ORIEL_HOST_SESSIONS

// MPI_Request_get_status_any, _some and _all came with MPI-4.1.
#define ORIEL_HOST_STATUS_OF_MANY (MPI_VERSION >= 5 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

// The events of MPI_T came with MPI-4.0.
#define ORIEL_HOST_TOOL_EVENTS (MPI_VERSION >= 4)

// Open MPI's window handles are addresses. MPICH's are integers, the same in Fortran, also under
// the standard ABI, which gives them a pointer type.
#define ORIEL_HOST_WINDOWS_ARE_POINTERS ORIEL_HOST_IS_OPEN_MPI

// If the program has given a window or communicator no error handler, MPICH and Intel MPI call the
// one for errors of no object. Open MPI's windows and communicators have MPI_ERRORS_ARE_FATAL.
#define ORIEL_HOST_DEFAULT_ERRHANDLERS (!ORIEL_HOST_IS_OPEN_MPI)

// The host accepts the handle of a freed datatype, a number, as that of a committed one. Open MPI's
// handle is an address at which there is no datatype any more.
#define ORIEL_HOST_KEEPS_FREED_TYPES (!ORIEL_HOST_IS_OPEN_MPI)

// An error handler may replace the code that was passed to it; the call then returns the new one.
#define ORIEL_HOST_ERRHANDLERS_CHANGE_CODES (!ORIEL_HOST_IS_OPEN_MPI)

// Open MPI reduces MPI_CHARACTER as unsigned numbers, the others as C's char.
#define ORIEL_HOST_UNSIGNED_CHARACTER ORIEL_HOST_IS_OPEN_MPI

// Requests of persistent collectives keep the communicator that they were made on. Those of Open
// MPI do not: they continue on the communicator that has its number next.
#ifdef MPICH_VERSION
#define ORIEL_HOST_COLLECTIVES_KEEP_COMM 1
#else
#define ORIEL_HOST_COLLECTIVES_KEEP_COMM 0
#endif

// A probe on a communicator of one rank advances the host's traffic on all communicators. In MPICH
// it does not, because it polls no network.
#define ORIEL_HOST_PROBE_ADVANCES ORIEL_HOST_IS_OPEN_MPI

// Conversions of Fortran's handles, which are integers: functions of the host (`kind`: Comm, Type
// and so on), but for windows functions of Oriel's. In MPICH they are macros of mpi.h.
#ifdef MPI_ABI_VERSION
#define ORIEL_HOST_CONVERTS_BY_INT 1
#define ORIEL_FROM_FORTRAN(kind, handle) oriel::mpi::host_mpi().kind##_fromint(handle)
#define ORIEL_TO_FORTRAN(kind, handle) oriel::mpi::host_mpi().kind##_toint(handle)
#define ORIEL_WIN_FROM_FORTRAN(handle) PMPI_Win_fromint(handle)
#define ORIEL_WIN_TO_FORTRAN(handle) PMPI_Win_toint(handle)
#define ORIEL_HOST_WIN_CONVERSIONS(define) define(MPI_Win_toint, MPI_Win_fromint)
#else
#define ORIEL_HOST_CONVERTS_BY_INT 0
#define ORIEL_WIN_FROM_FORTRAN(handle) PMPI_Win_f2c(handle)
#define ORIEL_WIN_TO_FORTRAN(handle) PMPI_Win_c2f(handle)
#ifdef OPEN_MPI
#define ORIEL_FROM_FORTRAN(kind, handle) oriel::mpi::host_mpi().kind##_f2c(handle)
#define ORIEL_TO_FORTRAN(kind, handle) oriel::mpi::host_mpi().kind##_c2f(handle)
#define ORIEL_HOST_WIN_CONVERSIONS(define) define(MPI_Win_c2f, MPI_Win_f2c)
#else
#define ORIEL_FROM_FORTRAN(kind, handle) PMPI_##kind##_f2c(handle)
#define ORIEL_TO_FORTRAN(kind, handle) PMPI_##kind##_c2f(handle)
#define ORIEL_HOST_WIN_CONVERSIONS(define)
#endif
static_assert(sizeof(MPI_Fint) == sizeof(int));
#endif
#define ORIEL_HOST_CONVERTS_BY_F2C ORIEL_HOST_IS_OPEN_MPI

// Begins the definition of a function of the public API. It has two names: `name`, which programs
// call, weak so that a tool may define it, and `twin`, which such a tool calls. All other symbols
// are hidden (-fvisibility=hidden).
// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
#define ORIEL_DEFINE_BOTH_RETURNING(result, name, twin)                                      \
  extern "C" __attribute__((visibility("default"), weak, alias(#twin))) decltype(twin) name; \
  extern "C" __attribute__((visibility("default"))) result twin
#define ORIEL_DEFINE_BOTH(name, twin) ORIEL_DEFINE_BOTH_RETURNING(int, name, twin)
// NOLINTEND(bugprone-macro-parentheses)
// For a function of oriel/oriel.h. oriel/profiling.h declares its twin.
#define ORIEL_CALL(name) ORIEL_DEFINE_BOTH(ORIEL_##name, PORIEL_##name)

namespace oriel::mpi {

/// A handle as a number. Handles are integers in MPICH's ABI, pointers in the others.
template <typename Handle>
inline std::uint64_t handle_key(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

/// The address of a list for a call of the host, never null: MPICH 3.4, and Intel MPI up to
/// 2021.13, refuse a null pointer for a list of no elements.
template <typename Element>
Element* host_list(std::vector<Element>& elements) {
  static Element none{};
  return elements.empty() ? &none : elements.data();
}

}  // namespace oriel::mpi
