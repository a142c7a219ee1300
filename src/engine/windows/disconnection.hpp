// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/engine.hpp"

namespace oriel {

// The steps before the host's MPI_Finalize. Within the host's MPI_Finalize no sweep serves other
// nodes, or empties the notification queue that ranks of the node fill: it must not begin while
// another rank still has operations for this one. With the process lock.

/// Waits, sweeping, until all ranks of each of these windows have called it. Does not wait for
/// ranks that have ended.
void await_other_ranks(Engine& engine, std::vector<Window*> windows);
/// Waits until all packets of this process have been sent, some seconds at most.
void await_last_packets(Engine& engine);

}  // namespace oriel
