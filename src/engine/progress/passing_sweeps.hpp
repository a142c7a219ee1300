// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of calls that do not wait.
#pragma once

#include "engine/engine.hpp"

namespace oriel {

/// A call that is shorter than a poll of the network sweeps only every 16th time.
inline constexpr unsigned calls_per_look = 16;

/// Sweeps in a call by which a program polls in a loop of its own (E10): such calls advance pending
/// operations and receive messages. With the process lock.
inline void sweep_pending(Engine& engine) {
  if (engine.busy()) [[unlikely]]
    engine.running()->process.sweep_in_passing();
}

/// Sweeps in any other call: each call advances pending operations, but polls the network only now
/// and then. With the process lock.
inline void carry_on(Engine& engine) {
  if (!engine.busy()) [[likely]]
    return;
  Running& running = *engine.running();
  if (running.process.expects() || running.transports.network() == nullptr ||
      ++running.operations % calls_per_look == 0) {
    running.process.sweep_in_passing();
  }
}

/// Sweeps in calls that a program makes many times in a row: even pending operations are advanced
/// only now and then. With the process lock.
inline void sweep_now_and_then(Engine& engine) {
  if (!engine.busy()) [[likely]]
    return;
  Running& running = *engine.running();
  if (running.transports.network() == nullptr || ++running.operations % calls_per_look == 0) {
    running.process.sweep_in_passing();
  }
}

/// The part of sweep_unlocked() that is not inlined.
void sweep_beside_others(Engine& engine);
/// Sweeps in a call without the process lock. Several threads may make such calls at the same time:
/// each sweeps only now and then, and not while another thread holds the lock.
inline void sweep_unlocked(Engine& engine) {
  if (engine.busy()) [[unlikely]]
    sweep_beside_others(engine);
}

/// True if direct transfers are in flight. They proceed while the program computes only if the
/// agent sweeps. With the process lock.
inline bool transfers_under_way(const Engine& engine) {
  Network* network = engine.running()->transports.network();
  return network != nullptr && network->transferring();
}

}  // namespace oriel
