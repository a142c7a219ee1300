// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace micro {

/// The target of an operation: its rank, the displacement at which its memory begins, and the
/// window.
struct Target {
  int rank;
  MPI_Aint start;
  MPI_Win win;
};

}  // namespace micro
