// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

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
