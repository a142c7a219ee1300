// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/host/host_interface.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The host as the engine sees it: SelfComm advances its traffic.
class MpiHost final : public Host {
 public:
  void advance() override;
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
  /// Finds a rank that runs without Oriel, such as a statically linked program. Such a rank makes a
  /// window of the host and waits in it for the other ranks, which would wait for that rank in a
  /// collective of Oriel's.
  ///
  ///     1. All ranks make a communicator. The hosts that Oriel supports also do so when they make
  ///     a
  ///        window, and the two calls match. When a rank has the communicator, every rank has begun
  ///        to make the window, with Oriel or without.
  ///     2. Each rank sends a message on the new communicator to its right neighbour. A rank
  ///     without
  ///        Oriel sends none.
  ///     3. A rank that has received none from its left neighbour after ORIEL_ROLL_CALL seconds
  ///        prints a sentence and ends the job. There is such a rank if some ranks have Oriel and
  ///        some do not. An error code would not suffice, because a rank without Oriel cannot
  ///        receive it.
  ///
  /// Does nothing if the host's progress engine does not call Oriel's hook: the host's
  /// MPI_Comm_create would wait without sweeping, and its nonblocking calls do not match.
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
