// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/host/host_interface.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The host as the engine sees it: SelfComm advances its traffic, PendingRequests are what it is
/// notified of.
class MpiHost final : public Host {
 public:
  void advance() override;
  bool any_to_complete() const override;
  bool complete_requests() override;
  bool waits_sweep() const override;
};

extern MpiHost mpi_host;

/// A communicator of the host, with the collectives that Oriel itself calls, to set up windows and
/// persistent collectives. Each returns the host's code.
///
/// If the host's progress engine calls Oriel's hook (Progress::hooked), these are the host's
/// blocking collectives. Nonblocking ones would fail: if the host rejects one rank's arguments for
/// a persistent collective, the ranks no longer agree on the order of nonblocking collectives of
/// the communicator (MPICH). If the host takes no hook (Intel MPI, MPICH before 4.3), each of these
/// except allreduce() is the host's nonblocking collective and a wait of Oriel's, for two reasons:
/// - The wait sweeps: another rank may be waiting for this one in an epoch before it makes the
///   call.
/// - The wait yields the processor. Intel MPI's waits (blocking collectives and MPI_Wait) spin
///   without yielding between nodes. With more waiting threads than processors, each step of a
///   collective then takes a scheduler's slice: with four threads in each of four ranks, two nodes
///   and two processors, MPI_Allreduce, MPI_Allgather and MPI_Barrier together take 1.5 to 3.6 s;
///   MPI_Iallreduce, MPI_Iallgather and MPI_Ibarrier with waits that yield take 4 ms.
class MpiComm final : public HostComm {
 public:
  explicit MpiComm(MPI_Comm communicator) : communicator_(communicator) {}

  int rank() const override;
  int ranks() const override;
  HostCode take_roll_call(const char* call) override;
  HostCode barrier() override;
  HostCode allgather(const void* own, std::size_t bytes, void* all) override;
  HostCode broadcast(void* buffer, std::size_t bytes, int root) override;
  /// Blocking on every host: between nodes Intel MPI does not free all memory of an MPI_Iallreduce.
  /// On Intel MPI it neither sweeps nor yields.
  HostCode allreduce(std::span<std::uint64_t> words, HostOp op) override;
  HostCode assemble() override;
  bool knows_peers(std::uint64_t own_id) const override;
  void note_known_peers(std::uint64_t own_id) override;

  /// Sends `bytes` bytes of `mine` to each rank, and receives as many from each rank in `theirs`.
  int alltoall(const void* mine, int bytes, void* theirs);
  int duplicate(MPI_Comm* made);

 private:
  MPI_Comm communicator_;
};

}  // namespace oriel::mpi
