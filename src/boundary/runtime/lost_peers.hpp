// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/errors.hpp"
#include "boundary/runtime/bound_window.hpp"

namespace oriel::boundary {

/// The failure to report if a member of the window that is waited for has died, none otherwise.
Failure look_for_lost_peers(const BoundWindow& window);
/// The failure of a call that waits for this rank, which has ended.
Failure lost_rank(const BoundWindow& window, int rank);

}  // namespace oriel::boundary
