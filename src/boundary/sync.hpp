// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "boundary/bound_window.hpp"
#include "boundary/errors.hpp"
#include "boundary/runtime.hpp"

namespace oriel::boundary {

// What blocking and nonblocking synchronization calls have in common.

inline constexpr int lock_asserts = MPI_MODE_NOCHECK | ORIEL_MODE_WEAK_UNLOCK;
inline constexpr int fence_asserts =
    MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

/// The assertion, when it has no bits but those `allowed`.
Failure translate_assert(int given, int allowed, Assert& assertion);

// Opening an epoch never waits (E2).
Failure open_post(BoundWindow& window, MPI_Group group, int assertion);
Failure open_start(BoundWindow& window, MPI_Group group, int assertion);
Failure open_lock(BoundWindow& window, int lock_type, int rank, int assertion);
Failure open_lock_all(BoundWindow& window, int assertion);

/// Direct transfers go on while the program computes, if somebody looks after them.
inline bool transfers_under_way() {
  Network* network = runtime.engine()->routes.network();
  return network != nullptr && network->transferring();
}

/// sweep_pending() of calls that come in long rows, of which each is shorter than a look at the
/// network.
inline void sweep_now_and_then() {
  if (!runtime.busy()) [[likely]]
    return;
  Engine& engine = *runtime.engine();
  constexpr unsigned rarely = 16;
  if (engine.routes.network() == nullptr || ++engine.operations % rarely == 0) {
    engine.process.sweep_in_passing();
  }
}

}  // namespace oriel::boundary
