// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"
#include "engine/host/host_interface.hpp"

namespace oriel::boundary {

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

/// A communicator of the host, as the engine sees it: its collectives are those of
/// setup_collectives.hpp.
class MpiComm final : public HostComm {
 public:
  explicit MpiComm(MPI_Comm communicator) : communicator_(communicator) {}

  int rank() const override;
  int ranks() const override;
  HostCode take_roll_call(const char* call) override;
  HostCode barrier() override;
  HostCode allgather(const void* own, std::size_t bytes, void* all) override;
  HostCode broadcast(void* buffer, std::size_t bytes, int root) override;
  HostCode allreduce(std::span<std::uint64_t> words, HostOp op) override;
  HostCode assemble() override;
  bool knows_peers(std::uint64_t own_id) const override;
  void note_known_peers(std::uint64_t own_id) override;

 private:
  MPI_Comm communicator_;
};

}  // namespace oriel::boundary
