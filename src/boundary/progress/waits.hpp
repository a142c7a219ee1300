// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// MPI_Wait as we carry it out, for ourselves: neither a tool that wraps the program's calls nor
/// the events of this process see it.
int wait(MPI_Request* request, MPI_Status* status);

/// Waits for a request of the host's by MPI_Test; between two tests it sweeps and yields or sleeps,
/// whether or not anything of ours is pending.
int wait_for_host(MPI_Request* request);

}  // namespace oriel::boundary
