// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/mpi_host.hpp"

#include <vector>

#include "boundary/progress/progress.hpp"
#include "boundary/progress/roll_call.hpp"
#include "boundary/progress/setup_collectives.hpp"
#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/known_peers.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

MpiHost mpi_host;

namespace {

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

bool MpiHost::any_to_complete() const {
  return own_requests.pending.any_to_complete();
}

bool MpiHost::complete_requests() {
  return own_requests.pending.complete_at_host();
}

bool MpiHost::waits_sweep() const {
  return progress.hooked();
}

int MpiComm::rank() const {
  int rank = 0;
  PMPI_Comm_rank(communicator_, &rank);
  return rank;
}

int MpiComm::ranks() const {
  int ranks = 0;
  PMPI_Comm_size(communicator_, &ranks);
  return ranks;
}

HostCode MpiComm::take_roll_call(const char* call) {
  return boundary::take_roll_call(communicator_, call);
}

HostCode MpiComm::barrier() {
  return setup::barrier(communicator_);
}

HostCode MpiComm::allgather(const void* own, std::size_t bytes, void* all) {
  return setup::allgather(own, static_cast<int>(bytes), all, communicator_);
}

HostCode MpiComm::broadcast(void* buffer, std::size_t bytes, int root) {
  return setup::broadcast(buffer, static_cast<int>(bytes), root, communicator_);
}

HostCode MpiComm::allreduce(std::span<std::uint64_t> words, HostOp op) {
  const std::vector<std::uint64_t> own(words.begin(), words.end());
  return setup::allreduce(own.data(), words.data(), static_cast<int>(words.size()), MPI_UINT64_T,
                          mpi_op(op), communicator_);
}

HostCode MpiComm::assemble() {
  return setup::assemble(communicator_);
}

bool MpiComm::knows_peers(std::uint64_t own_id) const {
  return boundary::knows_peers(communicator_, own_id);
}

void MpiComm::note_known_peers(std::uint64_t own_id) {
  boundary::note_known_peers(communicator_, own_id);
}

}  // namespace oriel::boundary
