// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstdio>

namespace support {

/// What a call came to that has met the loss of a rank, for the driver (expect_loss). The process
/// ends without the host, whose job is no longer whole.
[[noreturn]] inline void tell_loss(int code, double seconds) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  std::printf("after %.1f s, class %s: %s\n", seconds,
              error_class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "of another kind", text);
  std::fflush(stdout);
  _exit(0);
}

}  // namespace support
