// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/requests/pending_requests.hpp"
#include "boundary/requests/persistent_requests.hpp"

namespace oriel::boundary {

/// The requests of this process that Oriel completes.
struct OwnRequests {
  PendingRequests pending;
  PersistentRequests persistent;

  /// Fails the requests that wait for ended processes.
  void fail_lost() {
    pending.fail_lost();
    persistent.fail_lost();
  }
};

extern OwnRequests own_requests;

}  // namespace oriel::boundary
