// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress/progress.hpp"

#include <atomic>

#include "engine/stalls/long_wait.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

Progress progress;

namespace {

std::atomic<bool> stopping{false};

/// Oriel's hook in the host's progress engine. Never waits: if another thread holds the lock, that
/// thread sweeps.
bool sweep_in_hook() {
  Running* running = engine.running();
  if (running == nullptr) return false;
  bool moved = false;
  if (engine.busy()) {
    if (const TryGuard guard{engine.lock}) moved = running->process.sweep();
  }
  HookedWait::look_at_all(engine);
  // The host advances itself.
  static thread_local StepCount polls;
  if (!moved) running->pace.yield_after_poll(polls);
  return moved;
}

// Open MPI: a callback that returns the number of events that it has completed.
using OpalCallback = int (*)();
using OpalRegistration = int (*)(OpalCallback);

int opal_turn() {
  return sweep_in_hook() ? 1 : 0;
}

bool opal_call(const char* name) {
  const auto call = reinterpret_cast<OpalRegistration>(find_host_symbol(name));
  return call != nullptr && call(opal_turn) == 0;
}

// MPICH since 4.3: a task that is done only at the end, where MPI_Finalize waits for it.
using AsyncPoll = int (*)(void* thing);
using AsyncStart = int (*)(AsyncPoll, void* state, int stream);
constexpr int async_no_progress = 0;     // MPIX_ASYNC_NOPROGRESS
constexpr int async_done = 1;            // MPIX_ASYNC_DONE
constexpr int null_stream = 0x3c000000;  // MPIX_STREAM_NULL

int async_turn(void*) {
  if (stopping.load(std::memory_order_relaxed)) return async_done;
  sweep_in_hook();
  return async_no_progress;
}

bool start_async() {
  const auto start = reinterpret_cast<AsyncStart>(find_host_symbol("PMPIX_Async_start"));
  return start != nullptr && start(async_turn, nullptr, null_stream) == MPI_SUCCESS;
}

}  // namespace

void Progress::start() {
  if (hooked()) return;
  stopping = false;
  hooked_ = opal_call("opal_progress_register") || start_async();
}

void Progress::stop() {
  if (!hooked()) return;
  hooked_ = false;
  stopping = true;
  opal_call("opal_progress_unregister");
}

}  // namespace oriel::mpi
