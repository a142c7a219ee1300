// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// A communicator of this process alone, for host calls that need one and concern nobody else. The
/// program's attributes and error handlers of MPI_COMM_SELF are not for it.
class SelfComm {
 public:
  /// From MPI_COMM_SELF, or where the program has started MPI by sessions only (MPI-4.1 section
  /// 11.3), from a session of our own. False if the host has neither.
  bool start();
  /// Gives back a session of our own; what comes from the world has gone with it.
  void stop();

  MPI_Comm get() const { return comm_; }
  /// Lets the host carry its own traffic on, of all communicators.
  void advance_host() const;
  /// Whether call(communicator) succeeds. An error raises nothing.
  template <typename Call>
  bool attempt(Call&& call) const {
    raised = false;
    return call(comm_) == MPI_SUCCESS && !raised;
  }

 private:
  static void note_error(MPI_Comm*, int*, ...);
  bool make_session();

  // MPICH 5.0's standard ABI returns success from a call that fails when the error handler is not
  // one of MPI's own.
  static thread_local bool raised;

  MPI_Comm comm_ = MPI_COMM_NULL;
#if ORIEL_HOST_SESSIONS
  MPI_Session session_ = MPI_SESSION_NULL;
#endif
};

}  // namespace oriel::boundary
