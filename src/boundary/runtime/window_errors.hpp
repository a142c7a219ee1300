// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
