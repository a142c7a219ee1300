// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

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

/// The error handlers of Oriel's windows: MPI's own, and the program's, whose functions MPI has no
/// call to return. The host allocates the handles and counts its references; this class counts
/// Oriel's. Thread-safe.
class WindowErrhandlers {
 public:
  void note(MPI_Errhandler handler, const ErrhandlerFunction& function);
  /// Records that the function is one of the C++ binding.
  void note_proxy(MPI_Errhandler handler, ErrhandlerProxy* proxy);
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

}  // namespace oriel::mpi
