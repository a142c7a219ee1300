// SPDX-License-Identifier: BSD-3-Clause
// MPI_Type_free: records the freed datatype, so that an operation that uses it fails (G4).
#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/runtime.hpp"

using namespace oriel::boundary;
using oriel::Guard;

ORIEL_MPI_CALL(Type_free)(MPI_Datatype* datatype) {
  if (datatype != nullptr) {
    const Guard guard(engine.lock);
    runtime.datatypes.note_free(*datatype);
  }
  return host_mpi().Type_free(datatype);
}
