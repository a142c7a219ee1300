// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// Calls a function of MPICH's C++ binding for an object of this kind.
using ErrhandlerProxy = void(int kind, int* handle, int* code, void (*function)());

/// The function that MPI_Win_create_errhandler was given. A function from Fortran has Fortran's
/// calling convention.
struct ErrhandlerFunction {
  MPI_Win_errhandler_function* function = nullptr;
  bool fortran = false;
  ErrhandlerProxy* proxy = nullptr;

  /// Calls it for a window of Oriel's. The function may change the code. Without the process lock.
  void call(MPI_Win handle, int& code) const;
};

/// The error handlers of Oriel's windows. The functions of the program's are recorded, because no
/// call of MPI returns them. The host allocates the handles and counts its references; this class
/// counts Oriel's. Thread-safe.
class WindowErrhandlers {
 public:
  void record(MPI_Errhandler handler, const ErrhandlerFunction& function);
  /// Records that the function is one of the C++ binding.
  void record_proxy(MPI_Errhandler handler, ErrhandlerProxy* proxy);
  /// Empty: an error handler of MPI's own, or not one of windows.
  std::optional<ErrhandlerFunction> find(MPI_Errhandler handler);
  /// True if `handler` may be set on windows.
  bool valid(MPI_Errhandler handler);
  /// Adds a reference of Oriel's. Does nothing for MPI_ERRHANDLER_NULL.
  void hold(MPI_Errhandler handler);
  /// Removes a reference of Oriel's. Does nothing for MPI_ERRHANDLER_NULL. May call the host:
  /// without the process lock.
  void release(MPI_Errhandler handler);
  /// MPI_Errhandler_free: removes a reference, one of Oriel's if there is any. May call the host:
  /// without the process lock.
  int free(MPI_Errhandler* handler);

 private:
  struct Errhandler {
    ErrhandlerFunction function;
    long references = 0;
  };
  std::mutex alone_;
  std::unordered_map<std::uint64_t, Errhandler> handlers_;
};

/// The window in a sentence: " on window NAME".
std::string on_window(const std::string& name);

// The functions below are called without the process lock: error handlers are the program's
// functions.

/// Raises through the window's error handler (G7): "MPI_Put on window NAME: REASON." Returns the
/// code.
int raise(MPI_Win window, const char* call, const Failure& failure);
/// Raises an existing code on a window of Oriel's.
int raise(MPI_Win window, int code);

/// MPI_Win_call_errhandler. Returns false if the window is not Oriel's.
bool call_window_errhandler(MPI_Win window, int code);

/// Features that the host's own windows lack, as error messages name them.
namespace lacking {
inline constexpr const char* duplicates = "duplicates";
inline constexpr const char* memory_handles = "memory handles";
inline constexpr const char* nonblocking_epochs = "nonblocking epochs";
inline constexpr const char* notification_counters = "notification counters";
inline constexpr const char* notified_access = "notified access";
inline constexpr const char* op_intrinsic = "accumulates that Oriel knows of";
inline constexpr const char* remote_completion = "requests for completion at the target";
}  // namespace lacking

/// Raises the error of an Oriel call on a window that is not Oriel's. The host lacks `what`.
int unsupported_window(const char* call, MPI_Win handle, const char* what,
                       int error_class = MPI_ERR_WIN);

}  // namespace oriel::mpi
