// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>

namespace support {

/// Errors of no object return as long as it lives. MPICH raises them on MPI_COMM_SELF, the other
/// hosts on MPI_COMM_WORLD (docs/errors.md).
class ErrorsReturn {
 public:
  ErrorsReturn() {
    for (Kept& one : kept_) {
      MPI_Comm_get_errhandler(one.communicator, &one.before);
      MPI_Comm_set_errhandler(one.communicator, MPI_ERRORS_RETURN);
    }
  }
  ~ErrorsReturn() {
    for (Kept& one : kept_) {
      MPI_Comm_set_errhandler(one.communicator, one.before);
      MPI_Errhandler_free(&one.before);
    }
  }
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  struct Kept {
    MPI_Comm communicator;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  };
  std::array<Kept, 2> kept_{{{MPI_COMM_SELF}, {MPI_COMM_WORLD}}};
};

}  // namespace support
