// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/passing_sweeps.hpp"

#include <cstdint>

namespace oriel {

void sweep_beside_others(Engine& engine) {
  static thread_local unsigned calls = 0;
  static thread_local std::uint64_t seen = 0;
  Running& running = *engine.running();
  const Process& process = running.process;
  const bool others_sweep = engine.lock.enabled() && process.sweeps() != seen;
  const bool only_looks = running.transports.network() != nullptr && !process.expects();
  if ((others_sweep || only_looks) && ++calls % calls_per_look != 0) {
    seen = process.sweeps();
    return;
  }
  if (const TryGuard guard{engine.lock}) sweep_pending(engine);
  seen = process.sweeps();
}

}  // namespace oriel
