// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The communicator whose error handler the host calls for an error on `communicator`;
/// MPI_COMM_NULL: for an error of no object. MPI_Init has been called.
MPI_Comm errhandler_owner(MPI_Comm communicator);
/// Gives a communicator an error handler of Oriel's, which is not noted as the program's.
void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler);

}  // namespace oriel::mpi
