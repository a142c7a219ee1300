// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary::setup {

// The collectives of the host that Oriel itself calls, to set up windows and persistent
// collectives. Each returns the host's code.
//
// If the host's progress engine calls Oriel's hook (Progress::hooked), these are the host's
// blocking collectives. Nonblocking ones would fail: if the host rejects one rank's arguments for a
// persistent collective, the ranks no longer agree on the order of nonblocking collectives of the
// communicator (MPICH).
// If it does not (Intel MPI, MPICH before 4.3), each except allreduce() is the host's nonblocking
// collective and a wait of Oriel's, for two reasons:
// - The wait sweeps: another rank may be waiting for this one in an epoch before it makes the call.
// - The wait yields the processor. Intel MPI's waits (blocking collectives and MPI_Wait) spin
//   without yielding between nodes. With more waiting threads than processors, each step of a
//   collective then takes a scheduler's slice: with four threads in each of four ranks, two nodes
//   and two processors, MPI_Allreduce, MPI_Allgather and MPI_Barrier together take 1.5 to 3.6 s;
//   MPI_Iallreduce, MPI_Iallgather and MPI_Ibarrier with waits that yield take 4 ms.

/// Waits until all ranks of the communicator have called it.
int barrier(MPI_Comm communicator);
/// Gathers `bytes` bytes at `own` of every rank into `all`, ordered by rank, on all ranks.
int allgather(const void* own, int bytes, void* all, MPI_Comm communicator);
/// Sends `bytes` bytes of `mine` to each rank, and receives as many from each rank in `theirs`.
int alltoall(const void* mine, int bytes, void* theirs, MPI_Comm communicator);
/// barrier() if the host's progress engine does not call Oriel's hook; otherwise does nothing.
int assemble(MPI_Comm communicator);
/// Blocking on every host: between nodes Intel MPI does not free all memory of an MPI_Iallreduce.
/// On Intel MPI it neither sweeps nor yields, so another of these calls must precede it: after
/// that, no rank waits for this one in an epoch.
int allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm communicator);
int broadcast(void* buffer, int bytes, int root, MPI_Comm communicator);
int duplicate(MPI_Comm communicator, MPI_Comm* made);

}  // namespace oriel::boundary::setup
