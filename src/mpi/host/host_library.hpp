// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// Oriel's library links with no MPI library and names none. It serves each MPI of an ABI, whatever
// the name of its file. It finds the MPI library among the libraries of the process.

namespace oriel::mpi {

/// Returns whether the process has loaded one MPI library, and no other.
bool host_loaded();
/// A sentence, without its full stop, on a process that has loaded no MPI library, or two.
std::string why_no_host();

/// The host's function of this name, behind Oriel in the order of look-up. If the MPI library was
/// loaded with RTLD_LOCAL, as Python loads an extension, it is not in that order, and the look-up
/// starts at the MPI library. Null: the host has no such function, or none is loaded.
void* find_host_symbol(const char* name);

/// The host's variable of this name, as the program finds it: an executable may have its own copy,
/// to which the loader binds the host's uses, too. Null: there is none.
void* find_host_variable(const char* name);

}  // namespace oriel::mpi
