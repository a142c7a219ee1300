// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// Where a collective is called, in its communicator.
struct CollectiveCaller {
  int rank = 0;
  int ranks = 0;
};

/// Raises what is wrong with the communicator.
int find_caller(const char* call, MPI_Comm communicator, CollectiveCaller& caller);

bool intercommunicator(MPI_Comm communicator);

}  // namespace oriel::boundary
