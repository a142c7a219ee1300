// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/acquaintance.hpp"

namespace oriel::boundary {
namespace {

int met = MPI_KEYVAL_INVALID;

void* value_of(std::uint64_t own_id) {
  return reinterpret_cast<void*>(own_id);
}

}  // namespace

bool has_met(MPI_Comm communicator, std::uint64_t own_id) {
  void* value = nullptr;
  int found = 0;
  return met != MPI_KEYVAL_INVALID &&
         PMPI_Comm_get_attr(communicator, met, &value, &found) == MPI_SUCCESS && found != 0 &&
         value == value_of(own_id);
}

void note_met(MPI_Comm communicator, std::uint64_t own_id) {
  if (met == MPI_KEYVAL_INVALID && PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN,
                                                           &met, nullptr) != MPI_SUCCESS) {
    return;
  }
  PMPI_Comm_set_attr(communicator, met, value_of(own_id));
}

void forget_met() {
  if (met != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&met);
}

}  // namespace oriel::boundary
