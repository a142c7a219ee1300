// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "core/base/error.hpp"
#include "engine/process/engine_failure.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The failure of a call: the host's error class, and the reason, which follows the call's name in
/// the error message. A Failure is made with the process lock, and raised without it, because an
/// error handler may make any call.
struct Failure {
  int error_class = MPI_SUCCESS;
  const char* reason = "";

  constexpr Failure() = default;
  constexpr Failure(int of_class, const char* why) : error_class(of_class), reason(why) {}
  /// The translation of a failure of the engine.
  Failure(const EngineFailure& failure);

  explicit operator bool() const { return error_class != MPI_SUCCESS; }
};

/// The host's number for the standard's error class of a core error (MPI-4.1 section 12.7).
int error_class(Error error);

inline Failure::Failure(const EngineFailure& failure)
    : error_class(failure ? mpi::error_class(failure.error) : MPI_SUCCESS),
      reason(failure.reason) {}

/// A Failure whose reason is `sentence`. It is valid until this thread's next call of said().
Failure said(int error_class, std::string sentence);

/// Fails if one of a call's output arguments is a null pointer.
template <typename... Outputs>
EngineFailure check_outputs(const Outputs*... outputs) {
  if (((outputs != nullptr) && ...)) return {};
  return {Error::argument, "an output argument is a null pointer"};
}

/// The fault of a range of memory that the program has passed, if any.
inline EngineFailure check_memory(const void* base, MPI_Aint size) {
  if (size < 0) return {Error::size, "the size is negative"};
  if (base == nullptr && size != 0) return {Error::argument, "the memory's address is null"};
  return {};
}

/// The class MPI_ERR_RMA_NOTIFICATION of the MPI Forum's draft: the host's, or one that is added to
/// the host's at the first call.
int err_rma_notification();

inline Failure failure(Error error, const char* reason) {
  return EngineFailure{error, reason};
}

/// The communicator whose error handler the host calls for an error on `communicator`;
/// MPI_COMM_NULL: for an error of no object. MPI_Init has been called.
MPI_Comm errhandler_owner(MPI_Comm communicator);
/// Gives a communicator an error handler of Oriel's, which is not recorded as the program's.
void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler);
/// True for MPI_ERRORS_ARE_FATAL and, if MPI has it, MPI_ERRORS_ABORT.
bool ends_program(MPI_Errhandler handler);
/// True for the throwing handler of MPI's C++ bindings, which some hosts still have.
bool throws_exception(MPI_Errhandler handler);
/// Calls the error handler that the host would call for an error on the communicator;
/// MPI_COMM_NULL: for an error of no object. If the program has begun MPI by sessions alone, an
/// error of no object goes to the session that it has begun last.
void call_errhandler(MPI_Comm communicator, int code);
/// Calls the error handler that MPI_Comm_get_errhandler returns.
void call_own_errhandler(MPI_Comm communicator, int code);
/// Calls the error handler of a window of the host's.
void call_host_errhandler(MPI_Win window, int code);
/// The name of a window of the host's; empty: it has none.
std::string host_window_name(MPI_Win window);
/// Raises an error on a communicator, or of no object (MPI_COMM_NULL). Returns its code.
int raise(MPI_Comm communicator, const char* call, int error_class, const std::string& reason);
/// True after MPI_Init and before the end of MPI_Finalize.
bool world_exists();
#if ORIEL_HOST_SESSIONS
/// Called when the program has begun this session.
void add_session(MPI_Session session);
/// The time in which the program ends this session: its error handler is not called. A session that
/// the host has not ended afterwards has its handler again.
class SessionEnd {
 public:
  explicit SessionEnd(MPI_Session session);
  ~SessionEnd();
  SessionEnd(const SessionEnd&) = delete;
  SessionEnd& operator=(const SessionEnd&) = delete;
  void succeeded() { position_ = nowhere; }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  MPI_Session session_;
  std::size_t position_ = nowhere;  // in the list of sessions
};
#endif

/// A code of this class, for which MPI_Error_string returns this sentence. If there are no more
/// codes, the class itself.
int error_code(int error_class, const std::string& sentence);
/// The sentence of a code that error_code() has returned; empty: it is none of these.
std::string sentence_of(int code);

}  // namespace oriel::mpi
