// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "bench/failure.hpp"

namespace persistent {

/// Of calls on communicators that return errors; `what` says which.
inline void expect_success(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  bench::fail(std::string(what) + " failed: " + text);
}

}  // namespace persistent
