// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
