// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary::setup {

// The collectives of the host that Oriel itself calls, to set up windows and persistent
// collectives. Each returns the host's code.
//
// Where the host's progress engine calls ours (Progress::hooked), they are the host's blocking
// collectives. The nonblocking ones would not do: where a rank's arguments for a persistent
// collective are refused by the host, the ranks no longer agree which nonblocking collective of the
// communicator is the next (MPICH).
// Where it does not (Intel MPI), each but allreduce() is the host's nonblocking collective and a
// wait of ours, for two reasons:
// - The wait sweeps: another rank may be waiting for this one in an epoch before it comes here.
// - The wait yields the processor. Intel MPI's waits (blocking collectives and MPI_Wait) spin
//   without yielding between nodes. With more waiting threads than processors, each step of a
//   collective then takes a scheduler's slice: with four threads in each of four ranks, two nodes
//   and two processors, MPI_Allreduce, MPI_Allgather and MPI_Barrier together take 1.5 to 3.6 s;
//   MPI_Iallreduce, MPI_Iallgather and MPI_Ibarrier with waits that yield take 4 ms.

/// Waits until all ranks of the communicator are here.
int barrier(MPI_Comm communicator);
/// Every rank's `bytes` bytes at `own` to all ranks, into `all` by rank.
int allgather(const void* own, int bytes, void* all, MPI_Comm communicator);
/// `bytes` bytes of `mine` to each rank, and as many of each rank into `theirs`.
int alltoall(const void* mine, int bytes, void* theirs, MPI_Comm communicator);
/// Where the host's progress engine does not call ours: as barrier().
int assemble(MPI_Comm communicator);
/// Blocking on every host: between nodes Intel MPI keeps memory of each MPI_Iallreduce. There it
/// neither sweeps nor yields, so another of these calls has to come before it: then no rank waits
/// for this one in an epoch any more.
int allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm communicator);
int broadcast(void* buffer, int bytes, int root, MPI_Comm communicator);
int duplicate(MPI_Comm communicator, MPI_Comm* made);

}  // namespace oriel::boundary::setup
