// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The communicator whose error handler the host calls for an error on `communicator`;
/// MPI_COMM_NULL: for an error of no object. MPI_Init has been called.
MPI_Comm errhandler_owner(MPI_Comm communicator);

}  // namespace oriel::boundary
