// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/host_windows.hpp"
#include "boundary/host/host_mpi.hpp"

#include <algorithm>

namespace oriel::boundary {

bool HostWindows::make(const SelfComm& self, MPI_Errhandler handler, MPI_Win* handle) {
  const bool handled = handler != MPI_ERRHANDLER_NULL;
  const std::lock_guard one(alone_);
  if (!take(handled, handle)) {
    // What is kept may be the last that the host had.
    free_oldest();
    if (!make_empty(self, handle)) return false;
  }
  if (handled) host_mpi().Win_set_errhandler(*handle, handler);
  return true;
}

bool HostWindows::make_empty(const SelfComm& self, MPI_Win* handle) {
  void* base = nullptr;
  return self.attempt([&](MPI_Comm comm) {
    return host_mpi().Win_create_dynamic(MPI_INFO_NULL, comm, handle);
  }) || self.attempt([&](MPI_Comm comm) {
    return host_mpi().Win_allocate(0, 1, MPI_INFO_NULL, comm, &base, handle);
  });
}

bool HostWindows::take(bool handled, MPI_Win* handle) {
  const auto latest = std::find_if(kept_.rbegin(), kept_.rend(),
                                   [&](const Kept& one) { return one.handled == handled; });
  if (latest == kept_.rend()) return false;
  *handle = latest->handle;
  kept_.erase(std::next(latest).base());
  return true;
}

int HostWindows::free(MPI_Win* handle) {
  const std::lock_guard one(alone_);
  return host_mpi().Win_free(handle);
}

void HostWindows::keep(MPI_Win handle, bool handled) {
  const std::lock_guard one(alone_);
  if (kept_.size() == most_kept) free_oldest();
  kept_.push_back({handle, handled});
}

bool HostWindows::keeps(MPI_Win handle) {
  const std::lock_guard one(alone_);
  return std::ranges::any_of(kept_, [&](const Kept& kept) { return kept.handle == handle; });
}

void HostWindows::keep_few() {
  const std::lock_guard one(alone_);
  while (kept_.size() > few) free_oldest();
}

void HostWindows::empty() {
  const std::lock_guard one(alone_);
  while (!kept_.empty()) free_oldest();
}

void HostWindows::free_oldest() {
  if (kept_.empty()) return;
  free(&kept_.front().handle);
  kept_.erase(kept_.begin());
}

}  // namespace oriel::boundary
