// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/bound_window.hpp"
#include "boundary/runtime/runtime.hpp"

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

}  // namespace oriel::boundary
