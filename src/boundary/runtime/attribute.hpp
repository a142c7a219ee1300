// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// An attribute that the program has set on a window of Oriel's.
struct Attribute {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Aint value = 0;  // an address, if it was set by C
  bool set_by_fortran = false;
  bool being_deleted = false;  // its delete callback runs

  /// The value as C receives it: the value that C has set, or the address of Fortran's (MPI-4.1
  /// section 19.3.7).
  void* in_c() { return set_by_fortran ? &value : reinterpret_cast<void*>(value); }
};

}  // namespace oriel::boundary
