// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::mpi {

/// True if this code is in the Fortran layer. A function that is passed in a call from there may
/// have Fortran's calling convention.
bool in_fortran_layer(const void* code);

/// The host's function of this name, for a call of it from the code at `caller`. RTLD_NEXT finds it
/// if the MPI library is in the global scope; if it was loaded with RTLD_LOCAL, as Python loads an
/// extension, the lookup starts at the caller's library. Ends the process if there is none.
void* find_host_function(const char* name, const void* caller);

template <typename Function>
Function* host_function(const char* name, const void* caller) {
  return reinterpret_cast<Function*>(find_host_function(name, caller));
}

}  // namespace oriel::mpi
