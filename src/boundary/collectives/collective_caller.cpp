// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/collective_caller.hpp"

#include "boundary/host/errors.hpp"

namespace oriel::boundary {

bool intercommunicator(MPI_Comm communicator) {
  int inter = 0;
  return PMPI_Comm_test_inter(communicator, &inter) == MPI_SUCCESS && inter != 0;
}

int find_caller(const char* call, MPI_Comm communicator, CollectiveCaller& caller) {
  if (communicator == MPI_COMM_NULL) {
    return raise(MPI_COMM_NULL, call, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  }
  // The host raises other errors of the communicator.
  if (const int code = PMPI_Comm_rank(communicator, &caller.rank); code != MPI_SUCCESS) return code;
  if (const int code = PMPI_Comm_size(communicator, &caller.ranks); code != MPI_SUCCESS) {
    return code;
  }
  if (!intercommunicator(communicator)) return MPI_SUCCESS;
  return raise(communicator, call, MPI_ERR_COMM,
               "the communicator is an intercommunicator; use the MPI library's own call");
}

}  // namespace oriel::boundary
