// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace oriel {

/// The MPI library of this process, as the engine sees it. The boundary implements this interface
/// by MPI calls (MpiHost), tests by calls of their own. All calls are made without the process
/// lock, because the host may call Oriel, and any thread may make them.
class Host {
 public:
  /// Lets the host advance its own traffic on all communicators. Does not wait.
  virtual void advance() = 0;
  /// Returns whether requests of the program are complete and the host has not been notified. May
  /// also be called with the process lock.
  virtual bool any_to_complete() const = 0;
  /// Notifies the host of complete requests. Returns whether there were any.
  virtual bool complete_requests() = 0;

 protected:
  ~Host() = default;
};

}  // namespace oriel
