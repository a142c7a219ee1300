// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The error of a call of ours, `what` of which the host does not have, on a window that is not
/// ours.
int unsupported_window(const char* call, MPI_Win handle, const char* what,
                       int error_class = MPI_ERR_WIN);

}  // namespace oriel::boundary
