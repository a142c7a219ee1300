// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"
#include "boundary/progress/waits.hpp"

namespace oriel::boundary {

// Blocking in the host while sweeping, where the host's progress engine takes no hook of ours
// (Intel MPI, MPICH's library of the standard ABI). A blocking call is then its nonblocking form
// and a wait that sweeps. Point-to-point calls may choose so rank by rank; a collective must be the
// same call on all ranks, so the choice is the communicator's: those that windows were made on, and
// their duplicates.

/// Whether this rank's blocking point-to-point calls must sweep.
bool must_sweep();
/// Whether the collectives on this communicator sweep, on all its ranks.
bool collectives_sweep(MPI_Comm communicator);
/// All ranks of the communicator make a window on it.
void note_windows_on(MPI_Comm communicator);

/// start(&request), and a wait for it that sweeps.
template <typename Start>
int sweep_until_done(Start&& start, MPI_Status* status = MPI_STATUS_IGNORE,
                     WaitReason reason = WaitReason::request) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  return code == MPI_SUCCESS ? wait_for_host(&request, status, reason) : code;
}

}  // namespace oriel::boundary
