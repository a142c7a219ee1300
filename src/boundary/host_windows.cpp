// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host_windows.hpp"

#include "boundary/runtime.hpp"

namespace oriel::boundary {

HostWindows host_windows;

bool HostWindows::make(MPI_Win* handle) {
  const std::lock_guard one(alone_);
  return runtime.self.attempt(
      [&](MPI_Comm self) { return PMPI_Win_create_dynamic(MPI_INFO_NULL, self, handle); });
}

int HostWindows::free(MPI_Win* handle) {
  const std::lock_guard one(alone_);
  return PMPI_Win_free(handle);
}

}  // namespace oriel::boundary
