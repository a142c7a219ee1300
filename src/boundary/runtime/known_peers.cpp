// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/known_peers.hpp"

#include "boundary/host/communicator_mark.hpp"

namespace oriel::boundary {
namespace {

CommunicatorMark peers_known;

}  // namespace

bool knows_peers(MPI_Comm communicator, std::uint64_t own_id) {
  return peers_known.is_set(communicator, own_id);
}

void note_known_peers(MPI_Comm communicator, std::uint64_t own_id) {
  peers_known.set(communicator, own_id);
}

}  // namespace oriel::boundary
