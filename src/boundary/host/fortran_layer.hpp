// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel::boundary {

/// Whether a Fortran layer of the host's is in this process. It sets and deletes attributes by
/// functions of the host's own (MPII_Win_set_attr, ompi_attr_set_aint), not by names of MPI, so
/// that nobody can note what its program leaves on a window. Takes the loader's locks: to be called
/// without ours.
bool fortran_layer_loaded();

/// Whether this code is the Fortran layer's: what calls from there bring may be Fortran's.
bool in_fortran_layer(const void* code);

}  // namespace oriel::boundary
