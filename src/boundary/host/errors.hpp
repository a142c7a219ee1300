// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"
#include "core/base/error.hpp"

namespace oriel::boundary {

/// Why a call failed: the host's error class, and the second half of a sentence. Made while the
/// process lock is held, raised when it is not: an error handler may call anything.
struct Failure {
  int error_class = MPI_SUCCESS;
  const char* reason = "";

  explicit operator bool() const { return error_class != MPI_SUCCESS; }
};

/// With a sentence that is this thread's, until it has another failure to tell of.
Failure said(int error_class, std::string sentence);

/// MPI_ERR_ARG if one of a call's output arguments is a null pointer.
template <typename... Outputs>
Failure check_outputs(const Outputs*... outputs) {
  if (((outputs != nullptr) && ...)) return {};
  return {MPI_ERR_ARG, "an output argument is a null pointer"};
}

/// What is wrong with a range of memory that the program names, if anything.
inline Failure check_memory(const void* base, MPI_Aint size) {
  if (size < 0) return {MPI_ERR_SIZE, "the size is negative"};
  if (base == nullptr && size != 0) return {MPI_ERR_ARG, "the memory's address is null"};
  return {};
}

/// The host's number for the standard's error class of a core error (MPI-4.1 section 12.7).
int error_class(Error error);

/// The class MPI_ERR_RMA_NOTIFICATION of the MPI Forum's draft: the host's, or one that is added to
/// the host's at the first call.
int err_rma_notification();

inline Failure failure(Error error, const char* reason) {
  return {error == Error::none ? MPI_SUCCESS : error_class(error), reason};
}

/// MPI_ERRORS_ARE_FATAL, or MPI_ERRORS_ABORT where MPI has that.
bool ends_program(MPI_Errhandler handler);
/// That of MPI's C++ binding, which some hosts still have.
bool throws_exception(MPI_Errhandler handler);
/// Calls the error handler that the host would call for an error on the communicator;
/// MPI_COMM_NULL: for an error of no object. If the program has begun MPI by sessions alone, an
/// error of no object goes to the session that it has begun last.
void call_errhandler(MPI_Comm communicator, int code);
/// Calls the error handler that MPI_Comm_get_errhandler returns.
void call_own_errhandler(MPI_Comm communicator, int code);
/// Likewise that of a window of the host's.
void call_host_errhandler(MPI_Win window, int code);
/// Of a window of the host's; empty: none.
std::string host_window_name(MPI_Win window);
/// Raises an error on a communicator, before there is a window, or of no object (MPI_COMM_NULL).
int raise(MPI_Comm communicator, const char* call, int error_class, const std::string& reason);
/// MPI_Init has returned, and MPI_Finalize has not.
bool world_exists();
#if ORIEL_HOST_SESSIONS
/// The program has begun this session; MPI_SESSION_NULL: the last one noted ends.
void note_session(MPI_Session session);
#endif

}  // namespace oriel::boundary
