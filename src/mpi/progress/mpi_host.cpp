// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress/mpi_host.hpp"

#include <optional>
#include <vector>

#include "engine/stalls/long_wait.hpp"
#include "mpi/host/communicator_mark.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/progress/waits.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

MpiHost mpi_host;

namespace {

// The mark is an attribute of the communicator and of its duplicates. Its value is the id that this
// process had then: a new process knows no peers.
CommunicatorMark peers_known;

/// Calls blocking() if the host calls Oriel's hook, otherwise start(&request) and a wait that
/// sweeps. In both cases a stall report says that ranks are missing.
template <typename Blocking, typename Start>
int call(Blocking&& blocking, Start&& start) {
  if (!progress.hooked()) return sweep_until_done(start, MPI_STATUS_IGNORE, WaitReason::window);
  const HookedWait wait(engine, WaitReason::window);
  return blocking();
}

MPI_Op mpi_op(HostOp op) {
  switch (op) {
    case HostOp::min:
      return MPI_MIN;
    case HostOp::max:
      return MPI_MAX;
    case HostOp::sum:
      break;
  }
  return MPI_SUM;
}

}  // namespace

void MpiHost::advance() {
  runtime.self.advance_host();
}

bool MpiHost::waits_sweep() const {
  return progress.hooked();
}

int MpiComm::rank() const {
  int rank = 0;
  host_mpi().Comm_rank(communicator_, &rank);
  return rank;
}

int MpiComm::ranks() const {
  int ranks = 0;
  host_mpi().Comm_size(communicator_, &ranks);
  return ranks;
}

HostCode MpiComm::barrier() {
  return call([&] { return host_mpi().Barrier(communicator_); },
              [&](MPI_Request* request) { return host_mpi().Ibarrier(communicator_, request); });
}

HostCode MpiComm::allgather(const void* own, std::size_t bytes, void* all) {
  const int count = static_cast<int>(bytes);
  return call(
      [&] {
        return host_mpi().Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, communicator_);
      },
      [&](MPI_Request* request) {
        return host_mpi().Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, communicator_,
                                     request);
      });
}

HostCode MpiComm::broadcast(void* buffer, std::size_t bytes, int root) {
  const int count = static_cast<int>(bytes);
  return call([&] { return host_mpi().Bcast(buffer, count, MPI_BYTE, root, communicator_); },
              [&](MPI_Request* request) {
                return host_mpi().Ibcast(buffer, count, MPI_BYTE, root, communicator_, request);
              });
}

HostCode MpiComm::allreduce(std::span<std::uint64_t> words, HostOp op) {
  std::optional<HookedWait> wait;
  if (progress.hooked()) wait.emplace(engine, WaitReason::window);
  const std::vector<std::uint64_t> own(words.begin(), words.end());
  return host_mpi().Allreduce(own.data(), words.data(), static_cast<int>(words.size()),
                              MPI_UINT64_T, mpi_op(op), communicator_);
}

HostCode MpiComm::assemble() {
  return progress.hooked() ? MPI_SUCCESS : barrier();
}

bool MpiComm::knows_peers(std::uint64_t own_id) const {
  return peers_known.is_set(communicator_, own_id);
}

void MpiComm::note_known_peers(std::uint64_t own_id) {
  peers_known.set(communicator_, own_id);
}

int MpiComm::alltoall(const void* mine, int bytes, void* theirs) {
  return call(
      [&] {
        return host_mpi().Alltoall(mine, bytes, MPI_BYTE, theirs, bytes, MPI_BYTE, communicator_);
      },
      [&](MPI_Request* request) {
        return host_mpi().Ialltoall(mine, bytes, MPI_BYTE, theirs, bytes, MPI_BYTE, communicator_,
                                    request);
      });
}

int MpiComm::duplicate(MPI_Comm* made) {
  // No HookedWait: the call runs the program's attribute callbacks, whose waits report themselves.
  if (progress.hooked()) return host_mpi().Comm_dup(communicator_, made);
  return sweep_until_done(
      [&](MPI_Request* request) { return host_mpi().Comm_idup(communicator_, made, request); },
      MPI_STATUS_IGNORE, WaitReason::window);
}

}  // namespace oriel::mpi
