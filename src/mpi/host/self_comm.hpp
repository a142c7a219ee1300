// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// A communicator of this process alone, for host calls that need one and concern no other process.
/// It does not have the attributes and error handlers that the program sets on MPI_COMM_SELF.
class SelfComm {
 public:
  /// Makes it from MPI_COMM_SELF or, if the program has started MPI by sessions only (MPI-4.1
  /// section 11.3), from a session of Oriel's. False if the host has neither.
  bool start();
  /// Ends the session of Oriel's, if any. A communicator made from MPI_COMM_SELF ends with MPI.
  void stop();

  MPI_Comm get() const { return started_ ? comm_ : MPI_COMM_NULL; }
  /// Lets the host advance its own traffic on all communicators.
  void advance_host() const;
  /// Returns whether call(communicator) succeeds. Its errors are not raised.
  template <typename Call>
  bool attempt(Call&& call) const {
    raised = false;
    return call(comm_) == MPI_SUCCESS && !raised;
  }

 private:
  static void record_error(MPI_Comm*, int*, ...);
  bool make_session();

  // True: the error handler was called. MPICH 5.0's standard ABI returns success from a call that
  // fails if the error handler is not one of MPI's own.
  static thread_local bool raised;

  // Not null handles: this object is static, and Open MPI's handles are known only when it has been
  // loaded.
  bool started_ = false;
  MPI_Comm comm_{};
#if ORIEL_HOST_SESSIONS
  bool has_session_ = false;
  MPI_Session session_{};
#endif
};

}  // namespace oriel::mpi
