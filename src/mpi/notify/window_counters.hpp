// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/host/errors.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

// The calls on a window's notification counters (N8), for each spelling of their names. With
// the process lock.

/// Gives the window new counters, all zero, and the calling rank `number` of them: a collective on
/// the window.
Failure set_number(WindowHandle& window, int number, MPI_Info info);
Failure get_value(WindowHandle& window, int index, MPI_Count* value);
Failure set_value(WindowHandle& window, int index, MPI_Count value);
/// The request completes when the counter reaches the threshold. `posted` is false if it has.
Failure await_value(WindowHandle& window, int index, MPI_Count threshold, PendingRequest& request,
                    bool& posted);
/// Makes a request for await_value(). host() is called if the window is not Oriel's.
template <typename Host>
int request_value(const char* call, MPI_Win win, int index, MPI_Count threshold,
                  MPI_Request* request, Host&& host) {
  return with_request(
      call, win, request,
      [&](WindowHandle& window, PendingRequest& pending, bool& posted) {
        return await_value(window, index, threshold, pending, posted);
      },
      host);
}

/// The error of a call on a window that is not Oriel's: MPI_ERR_UNSUPPORTED_OPERATION.
int no_counters(const char* call, MPI_Win handle);

}  // namespace oriel::mpi
