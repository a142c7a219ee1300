// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// Makes the request of a persistent alltoallv. All ranks call this, and all raise the fault of any
/// of them.
int make_alltoallv(const char* call, const AlltoallvArguments& arguments, MPI_Comm communicator,
                   int rank, MPI_Info info, MPI_Request* request);

}  // namespace oriel::boundary
