// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/epoch/event.hpp"
#include "mpi/host/host.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

/// Waits for a request of the host's by its MPI_Test. Between two tests it sweeps and yields or
/// sleeps, even if nothing of Oriel's is pending. Neither a tool that wraps the program's calls nor
/// the events of this process see it. `reason`: for a stall report.
int wait_for_host(MPI_Request* request, MPI_Status* status = MPI_STATUS_IGNORE,
                  WaitReason reason = WaitReason::request);

/// Makes a blocking call of the host's for the program, and counts its time in the record.
template <typename Call>
int call_host(Call&& call) {
  return engine.records.recorder.host_time.during(call);
}

// Sweeping in blocking calls of the host if its progress engine takes no hook (Intel MPI, MPICH's
// library of the standard ABI). A blocking call is then its nonblocking form and a wait that
// sweeps. Point-to-point calls may choose this on each rank; a collective must be the same call on
// all ranks, so the communicator decides: those that windows were made on, and their duplicates.

/// True if this rank's blocking point-to-point calls must sweep.
bool must_sweep();
/// True if the collectives on this communicator sweep, on all its ranks.
bool collectives_sweep(MPI_Comm communicator);
/// Called when all ranks of the communicator make a window on it.
void note_windows_on(MPI_Comm communicator);

/// Calls start(&request) and waits for the request by sweeping.
template <typename Start>
int sweep_until_done(Start&& start, MPI_Status* status = MPI_STATUS_IGNORE,
                     WaitReason reason = WaitReason::request) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  return code == MPI_SUCCESS ? wait_for_host(&request, status, reason) : code;
}

}  // namespace oriel::mpi
