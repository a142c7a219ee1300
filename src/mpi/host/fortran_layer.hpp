// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::mpi {

/// True if this code is in the Fortran layer. A function that is passed in a call from there may
/// have Fortran's calling convention.
bool in_fortran_layer(const void* code);

/// The host's function of this name, for a call of it from the code at `caller`. If neither the
/// global scope nor the MPI library has it, the look-up starts at the caller's library: the Fortran
/// layer may have been loaded with RTLD_LOCAL. Ends the process if there is none.
void* find_host_function(const char* name, const void* caller);

template <typename Function>
Function* host_function(const char* name, const void* caller) {
  return reinterpret_cast<Function*>(find_host_function(name, caller));
}

}  // namespace oriel::mpi
