// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

/// A call that returns a request: start(window, pending, posted) sets `posted` if `pending` is
/// completed later. Otherwise the request is complete at creation.
template <typename Start, typename Host>
int with_request(const char* call, MPI_Win handle, MPI_Request* request, Start&& start,
                 Host&& host) {
  PendingRequest* pending = nullptr;
  bool ours = false;
  const int code = dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        ours = true;
        if (const Failure bad = check_outputs(request)) return bad;
        PendingRequest& candidate = own_requests.pending.acquire(window);
        bool posted = false;
        const Failure bad = start(window, candidate, posted);
        if (posted) {
          pending = &candidate;
        } else {
          own_requests.pending.withdraw(candidate);
        }
        return bad;
      },
      host);
  if (!ours || code != MPI_SUCCESS) return code;
  return pending != nullptr ? own_requests.pending.hand_out(*pending, request)
                            : completed_request(request);
}

}  // namespace oriel::boundary
