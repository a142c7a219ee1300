// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/setup_collectives.hpp"

#include <optional>

#include "boundary/host/host_mpi.hpp"
#include "boundary/progress/progress.hpp"
#include "boundary/progress/sweeping.hpp"
#include "engine/stalls/hooked_wait.hpp"

namespace oriel::boundary::setup {
namespace {

/// Calls blocking() if the host calls Oriel's hook, otherwise start(&request) and a wait that
/// sweeps. In both cases a stall report says that ranks are missing.
template <typename Blocking, typename Start>
int call(Blocking&& blocking, Start&& start) {
  if (!progress.hooked()) return sweep_until_done(start, MPI_STATUS_IGNORE, WaitReason::window);
  const HookedWait wait(engine, WaitReason::window);
  return blocking();
}

}  // namespace

int barrier(MPI_Comm communicator) {
  return call([&] { return host_mpi().Barrier(communicator); },
              [&](MPI_Request* request) { return PMPI_Ibarrier(communicator, request); });
}

int allgather(const void* own, int bytes, void* all, MPI_Comm communicator) {
  return call(
      [&] {
        return host_mpi().Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, communicator);
      },
      [&](MPI_Request* request) {
        return PMPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, communicator, request);
      });
}

int alltoall(const void* mine, int bytes, void* theirs, MPI_Comm communicator) {
  return call(
      [&] {
        return host_mpi().Alltoall(mine, bytes, MPI_BYTE, theirs, bytes, MPI_BYTE, communicator);
      },
      [&](MPI_Request* request) {
        return PMPI_Ialltoall(mine, bytes, MPI_BYTE, theirs, bytes, MPI_BYTE, communicator,
                              request);
      });
}

int assemble(MPI_Comm communicator) {
  return progress.hooked() ? MPI_SUCCESS : barrier(communicator);
}

int allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm communicator) {
  std::optional<HookedWait> wait;
  if (progress.hooked()) wait.emplace(engine, WaitReason::window);
  return host_mpi().Allreduce(own, result, count, type, op, communicator);
}

int broadcast(void* buffer, int bytes, int root, MPI_Comm communicator) {
  return call([&] { return host_mpi().Bcast(buffer, bytes, MPI_BYTE, root, communicator); },
              [&](MPI_Request* request) {
                return PMPI_Ibcast(buffer, bytes, MPI_BYTE, root, communicator, request);
              });
}

int duplicate(MPI_Comm communicator, MPI_Comm* made) {
  // No HookedWait: the call runs the program's attribute callbacks, whose waits report themselves.
  if (progress.hooked()) return host_mpi().Comm_dup(communicator, made);
  return sweep_until_done(
      [&](MPI_Request* request) { return PMPI_Comm_idup(communicator, made, request); },
      MPI_STATUS_IGNORE, WaitReason::window);
}

}  // namespace oriel::boundary::setup
