// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/known_peers.hpp"

namespace oriel::boundary {
namespace {

int peer_keyval = MPI_KEYVAL_INVALID;

void* value_of(std::uint64_t own_id) {
  return reinterpret_cast<void*>(own_id);
}

}  // namespace

bool knows_peers(MPI_Comm communicator, std::uint64_t own_id) {
  void* value = nullptr;
  int found = 0;
  return peer_keyval != MPI_KEYVAL_INVALID &&
         PMPI_Comm_get_attr(communicator, peer_keyval, &value, &found) == MPI_SUCCESS &&
         found != 0 && value == value_of(own_id);
}

void note_known_peers(MPI_Comm communicator, std::uint64_t own_id) {
  if (peer_keyval == MPI_KEYVAL_INVALID &&
      PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &peer_keyval, nullptr) !=
          MPI_SUCCESS) {
    return;
  }
  PMPI_Comm_set_attr(communicator, peer_keyval, value_of(own_id));
}

void forget_known_peers() {
  if (peer_keyval != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&peer_keyval);
}

}  // namespace oriel::boundary
