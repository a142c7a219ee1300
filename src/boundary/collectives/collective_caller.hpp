// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The caller of a collective: its rank in the communicator, and the number of ranks.
struct CollectiveCaller {
  int rank = 0;
  int ranks = 0;
};

/// Raises an error if the communicator is not valid, or is an intercommunicator.
int find_caller(const char* call, MPI_Comm communicator, CollectiveCaller& caller);

bool intercommunicator(MPI_Comm communicator);

}  // namespace oriel::boundary
