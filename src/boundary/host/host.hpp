// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <type_traits>

// The only place that asks which host MPI this build is for. mpi.h is the host's own header:
// MPICH's (also Intel MPI's ABI), Open MPI's, or with MPI_ABI the MPI-5 standard ABI's.

// The large-count names (MPI_Put_c, ...) are defined where the host has them, and only there:
// programs bind to them weakly and take their presence as a promise.
#if MPI_VERSION >= 4
#define ORIEL_HOST_LARGE_COUNTS 1
#else
#define ORIEL_HOST_LARGE_COUNTS 0
#endif

// The library of Open MPI 4.1 has the soname of 5's, but not these symbols: they are null there.
// Only programs with sessions lead to calls of their functions; host_has() asks about
// PMPI_Comm_idup_with_info; no error handler equals a null MPI_ERRORS_ABORT.
#ifdef OPEN_MPI
// NOLINTNEXTLINE(readability-redundant-declaration): not in the header of 4.1
extern "C" int PMPI_Comm_idup_with_info(MPI_Comm, MPI_Info, MPI_Comm*, MPI_Request*);
#pragma weak ompi_mpi_instance_null
#pragma weak ompi_mpi_errors_abort
#pragma weak PMPI_Comm_idup_with_info
#pragma weak PMPI_Comm_create_from_group
#pragma weak PMPI_Group_from_session_pset
#pragma weak PMPI_Session_call_errhandler
#pragma weak PMPI_Session_get_errhandler
#endif

// Sessions came with MPI-4.0, and with Open MPI 5, which calls itself MPI-3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define ORIEL_HOST_SESSIONS 1
#else
#define ORIEL_HOST_SESSIONS 0
#endif

// Persistent collectives came with MPI-4.0, too, and with Open MPI 5.
#define ORIEL_HOST_PERSISTENT_COLLECTIVES ORIEL_HOST_SESSIONS

// MPI_Request_get_status_any and its siblings came with MPI-4.1.
#if MPI_VERSION >= 5 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define ORIEL_HOST_STATUS_OF_MANY 1
#else
#define ORIEL_HOST_STATUS_OF_MANY 0
#endif

// The events of MPI_T came with MPI-4.0.
#if MPI_VERSION >= 4
#define ORIEL_HOST_TOOL_EVENTS 1
#else
#define ORIEL_HOST_TOOL_EVENTS 0
#endif

// Open MPI's window handles are addresses. MPICH's are integers, the same in Fortran, also under
// the standard ABI, which gives them a pointer type.
#ifdef OPEN_MPI
#define ORIEL_HOST_WINDOWS_ARE_POINTERS 1
#else
#define ORIEL_HOST_WINDOWS_ARE_POINTERS 0
#endif

// Windows and communicators to which the program has given no error handler: MPICH and Intel MPI
// call the one for errors of no object. Open MPI's have MPI_ERRORS_ARE_FATAL.
#ifdef OPEN_MPI
#define ORIEL_HOST_DEFAULT_ERRHANDLERS 0
#else
#define ORIEL_HOST_DEFAULT_ERRHANDLERS 1
#endif

// The handle of a freed datatype is a number, which the host takes for that of a committed one.
// Open MPI's is an address of nothing.
#ifdef OPEN_MPI
#define ORIEL_HOST_KEEPS_FREED_TYPES 0
#else
#define ORIEL_HOST_KEEPS_FREED_TYPES 1
#endif

// A call returns the code that an error handler has put in the place of the one that it was given.
#ifdef OPEN_MPI
#define ORIEL_HOST_ERRHANDLERS_CHANGE_CODES 0
#else
#define ORIEL_HOST_ERRHANDLERS_CHANGE_CODES 1
#endif

// Open MPI reduces MPI_CHARACTER as unsigned numbers, the others as C's char.
#ifdef OPEN_MPI
#define ORIEL_HOST_UNSIGNED_CHARACTER 1
#else
#define ORIEL_HOST_UNSIGNED_CHARACTER 0
#endif

// Requests of persistent collectives keep the communicator that they were made on: not Open MPI's,
// which go on with whatever has its number next.
#ifdef MPICH_VERSION
#define ORIEL_HOST_COLLECTIVES_KEEP_COMM 1
#else
#define ORIEL_HOST_COLLECTIVES_KEEP_COMM 0
#endif

// A probe of a communicator of one rank carries the host's traffic on, of all communicators: not in
// MPICH, where it looks at no network.
#ifdef OPEN_MPI
#define ORIEL_HOST_PROBE_ADVANCES 1
#else
#define ORIEL_HOST_PROBE_ADVANCES 0
#endif

// Fortran's handles are integers, which these convert, for `kind` Win, Comm, Type and so on.
#ifdef MPI_ABI_VERSION
#define ORIEL_FROM_FORTRAN(kind, handle) PMPI_##kind##_fromint(handle)
#define ORIEL_HOST_WIN_CONVERSIONS(define) define(MPI_Win_toint, MPI_Win_fromint)
#define ORIEL_TO_FORTRAN(kind, handle) PMPI_##kind##_toint(handle)
#else
#define ORIEL_FROM_FORTRAN(kind, handle) PMPI_##kind##_f2c(handle)
#define ORIEL_TO_FORTRAN(kind, handle) PMPI_##kind##_c2f(handle)
#ifdef OPEN_MPI
#define ORIEL_HOST_WIN_CONVERSIONS(define) define(MPI_Win_c2f, MPI_Win_f2c)
#else
#define ORIEL_HOST_WIN_CONVERSIONS(define)  // macros of mpi.h
#endif
static_assert(sizeof(MPI_Fint) == sizeof(int));
#endif

// Begins the definition of a function of the public API, which has two names: the one that programs
// call, weak so that a tool may have its own, and the one that such a tool calls. Everything else
// is hidden (-fvisibility=hidden).
// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
#define ORIEL_DEFINE_BOTH_RETURNING(result, name, twin)                                      \
  extern "C" __attribute__((visibility("default"), weak, alias(#twin))) decltype(twin) name; \
  extern "C" __attribute__((visibility("default"))) result twin
#define ORIEL_DEFINE_BOTH(name, twin) ORIEL_DEFINE_BOTH_RETURNING(int, name, twin)
// NOLINTEND(bugprone-macro-parentheses)
// Of oriel/oriel.h; oriel/profiling.h declares the twin.
#define ORIEL_CALL(name) ORIEL_DEFINE_BOTH(ORIEL_##name, PORIEL_##name)

namespace oriel::boundary {

/// Whether the host in use has a function that its header declares.
template <typename Function>
bool host_has(Function* function) {
  return function != nullptr;
}

/// A handle as a number: integers in MPICH's ABI, pointers in the others.
template <typename Handle>
inline std::uint64_t handle_key(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

}  // namespace oriel::boundary
