// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/epoch/event.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Waits for a request of the host's by its MPI_Test. Between two tests it sweeps and yields or
/// sleeps, even if nothing of Oriel's is pending. Neither a tool that wraps the program's calls nor
/// the events of this process see it. `reason`: for a stall report.
int wait_for_host(MPI_Request* request, MPI_Status* status = MPI_STATUS_IGNORE,
                  WaitReason reason = WaitReason::request);

}  // namespace oriel::mpi
