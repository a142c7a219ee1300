// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/engine.hpp"
#include "engine/process/engine_failure.hpp"

namespace oriel {

/// The collective part of freeing a window: waits until all ranks have finished with the window,
/// and all pending operations are complete. Afterwards no rank uses this rank's memory of the
/// window. Sets `failed` if an operation has failed; the window can be destroyed nevertheless. With
/// the process lock.
EngineFailure leave_window(Engine& engine, Window& window, EngineFailure& failed);

}  // namespace oriel
