// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <vector>

#include "mpi/host/host_mpi.hpp"

// The arguments of the Fortran module's calls (mpi/calls/fortran.py), whose handles are the
// integers MPI_VAL.

/// Begins the definition of a function that the module calls.
#define ORIEL_FORTRAN_CALL(name) extern "C" __attribute__((visibility("default"))) int name

namespace oriel::mpi {

/// True if a buffer is the address that stands for a noncontiguous section of a Fortran array. No
/// call accepts such a section: the compiler's copy of it would be freed before the end of the
/// operation.
bool is_noncontiguous(const void* buffer);
inline constexpr const char* noncontiguous_refused =
    "a buffer is a section of a Fortran array that is not contiguous; describe it by a derived "
    "datatype, for example of MPI_Type_vector";

/// True if a call on a window must be refused because one of its buffers is such a section.
bool must_refuse_on_win(std::initializer_list<const void*> buffers);
/// True if a collective call must be refused. Oriel's own collectives check their buffers, and fail
/// on all ranks. With ORIEL_DISABLE the host carries out the call, and does not know the address;
/// the call is then refused here, on this rank alone.
bool must_refuse_on_comm(std::initializer_list<const void*> buffers);
/// Raises MPI_ERR_BUFFER.
int refuse_on_win(const char* call, MPI_Win win);
int refuse_on_comm(const char* call, MPI_Comm comm);

int ranks_of(MPI_Comm comm);
std::vector<MPI_Datatype> datatypes_in_c(const int* handles, int count);

}  // namespace oriel::mpi
