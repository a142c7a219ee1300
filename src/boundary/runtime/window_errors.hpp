// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"

namespace oriel::boundary {

/// As in a sentence: " on window NAME".
std::string on_window(const std::string& name);

// All of the following without the process lock: error handlers are functions of the program's.

/// Raises through the window's error handler (G7): "MPI_Put on window NAME: REASON." Returns the
/// code.
int raise(MPI_Win window, const char* call, const Failure& failure);
/// The same with a code that is there already, on a window of ours.
int raise(MPI_Win window, int code);

/// MPI_Win_call_errhandler. False: no window of ours.
bool call_window_errhandler(MPI_Win window, int code);

}  // namespace oriel::boundary
