// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/unsupported_window.hpp"

#include <string>

#include "boundary/host/errors.hpp"
#include "boundary/host/host_mpi.hpp"
#include "boundary/runtime/window_errors.hpp"

namespace oriel::boundary {

int unsupported_window(const char* call, MPI_Win handle, const char* what, int error_class) {
  if (handle == MPI_WIN_NULL) {
    return raise(MPI_COMM_NULL, call, MPI_ERR_WIN, "the window is MPI_WIN_NULL");
  }
  if (linked_behind_host()) {
    return raise(handle, call, {MPI_ERR_WIN, behind_host_words});
  }
  const std::string reason = std::string("this window is the host MPI's and has no ") + what;
  return raise(handle, call, {error_class, reason.c_str()});
}

}  // namespace oriel::boundary
