// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/host_windows.hpp"
#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {

HostWindows host_windows;

bool HostWindows::make(const SelfComm& self, MPI_Win* handle) {
  const std::lock_guard one(alone_);
  return self.attempt(
      [&](MPI_Comm comm) { return host_mpi().Win_create_dynamic(MPI_INFO_NULL, comm, handle); });
}

int HostWindows::free(MPI_Win* handle) {
  const std::lock_guard one(alone_);
  return host_mpi().Win_free(handle);
}

}  // namespace oriel::boundary
