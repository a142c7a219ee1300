// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "boundary/host/host.hpp"
#include "boundary/host/self_comm.hpp"

namespace oriel::boundary {

/// The host's windows behind ours: they lend the handle, name, attributes and error handler. Each
/// is a dynamic window of this process alone, so that making one registers nothing and asks nobody.
/// One call at a time: hosts crash when two threads make or free windows, and calls that were
/// collective over several processes could not wait for each other.
class HostWindows {
 public:
  bool make(const SelfComm& self, MPI_Win* handle);
  /// Runs the delete callbacks of the program's attributes, which may free windows themselves.
  int free(MPI_Win* handle);

 private:
  std::recursive_mutex alone_;
};

extern HostWindows host_windows;

}  // namespace oriel::boundary
