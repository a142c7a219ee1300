// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "engine/process/engine_failure.hpp"

namespace oriel {

/// The collective part of freeing a window: waits until all ranks have finished with the window,
/// and all pending operations are complete. Afterwards no rank uses this rank's memory of the
/// window. Sets `failed` if an operation has failed; the window can be destroyed nevertheless. With
/// the process lock.
EngineFailure leave_window(Engine& engine, Window& window, EngineFailure& failed);

// The steps before the host's MPI_Finalize, for windows that have not been freed. Within the host's
// MPI_Finalize no sweep serves other nodes, or empties the notification queue that ranks of the
// node fill: it must not begin while another rank still has operations for this one. With the
// process lock.

/// Waits, sweeping, until all ranks of each of these windows have called it. Does not wait for
/// ranks that have ended.
void await_other_ranks(Engine& engine, const std::vector<Window*>& windows);
/// Waits until the network has finished all sends of this process, three seconds at most.
void await_last_sends(Engine& engine);

}  // namespace oriel
