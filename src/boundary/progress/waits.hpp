// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"
#include "core/epoch/events.hpp"

namespace oriel::boundary {

/// Waits for a request of the host's by its MPI_Test; between two tests it sweeps and yields or
/// sleeps, whether or not anything of ours is pending. Neither a tool that wraps the program's
/// calls nor the events of this process see it. `reason`: as a stall report says it.
int wait_for_host(MPI_Request* request, MPI_Status* status = MPI_STATUS_IGNORE,
                  WaitReason reason = WaitReason::request);

}  // namespace oriel::boundary
