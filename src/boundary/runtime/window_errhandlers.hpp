// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// Calls a function of MPICH's C++ binding for an object of this kind.
using ErrhandlerProxy = void(int kind, int* handle, int* code, void (*function)());

/// The function of an error handler, as MPI_Win_create_errhandler was given it. One from Fortran
/// has Fortran's calling convention.
struct ErrhandlerFunction {
  MPI_Win_errhandler_function* function = nullptr;
  bool fortran = false;
  ErrhandlerProxy* proxy = nullptr;

  /// For a window of ours. The function may change the code. Without the process lock.
  void call(MPI_Win handle, int& code) const;
};

/// The error handlers of windows of ours: MPI's own, and the program's, whose functions MPI has no
/// call to return. The host allocates the handles and counts its own references; this class counts
/// ours. Any thread may call.
class WindowErrhandlers {
 public:
  void note(MPI_Errhandler handler, const ErrhandlerFunction& function);
  /// The function is C++'s after all.
  void note_proxy(MPI_Errhandler handler, ErrhandlerProxy* proxy);
  /// Nothing: MPI's own, or none of windows.
  std::optional<ErrhandlerFunction> find(MPI_Errhandler handler);
  /// Whether windows may be given it.
  bool valid(MPI_Errhandler handler);
  /// One more reference of ours. MPI_ERRHANDLER_NULL: nothing is done.
  void hold(MPI_Errhandler handler);
  /// Gives up a reference of ours. MPI_ERRHANDLER_NULL: nothing is done. May call the host: without
  /// the process lock.
  void release(MPI_Errhandler handler);
  /// MPI_Errhandler_free: gives up a reference, one of ours if there is any. May call the host:
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

}  // namespace oriel::boundary
