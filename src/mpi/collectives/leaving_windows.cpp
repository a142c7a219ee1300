// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/leaving_windows.hpp"

#include <utility>

#include "engine/progress/lost_peers.hpp"
#include "engine/progress/waiting.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/startup/lifetime.hpp"
#include "mpi/windows/handle_lifetime.hpp"

namespace oriel::mpi {

LeavingWindows leaving_windows;

/// True if the window was destroyed with an earlier engine.
bool LeavingWindows::One::gone() const {
  return runtime.windows.find(handle_key(handle)) != window;
}

bool LeavingWindows::One::left_by_all() {
  return !broken && left.done() && window->core->epochs().quiet() && window->core->depart();
}

LeavingWindows::One& LeavingWindows::append(MPI_Win handle, std::shared_ptr<void> memory) {
  auto added = std::make_unique<One>();
  added->handle = handle;
  added->window = runtime.windows.find(handle_key(handle));
  added->memory = std::move(memory);
  return *all_.emplace_back(std::move(added));
}

void LeavingWindows::add(MPI_Win handle, bool locked, std::shared_ptr<void> memory) {
  begin_leaving(append(handle, std::move(memory)), locked);
}

void LeavingWindows::add_plan_window(MPI_Win handle) {
  One& one = append(handle, nullptr);
  one.of_plans = true;
  begin_leaving(one, false);
}

/// The window completes these calls in order. If fences are counted by messages, a fence that has
/// ended on this rank may not have ended on others; the end of a second one shows that it has.
void LeavingWindows::begin_leaving(One& one, bool locked) {
  if (one.window == nullptr) return;
  Window& core = *one.window->core;
  if (locked) core.unlock(core.rank(), nullptr);
  if (core.remote()) core.epochs().fence(Assert(), true, &one.met);
  Assert last;
  last.no_succeed = true;
  const Outcome outcome = core.epochs().fence(last, true, &one.left);
  if (outcome.done) one.left.complete(outcome.error);
}

void LeavingWindows::keep(MPI_Win handle, std::shared_ptr<void> memory) {
  append(handle, std::move(memory)).broken = true;
}

void LeavingWindows::wait_for_plan_windows() {
  for (const auto& one : all_) {
    if (!one->of_plans || one->window == nullptr || one->gone()) continue;
    sweep_until(
        engine, one->window->core->events(), {WaitReason::window},
        [&] { return one->left_by_all(); }, [&] { return look_for_any_lost(*one->window->core); });
  }
}

void LeavingWindows::reap() {
  std::vector<std::unique_ptr<One>> ended;
  {
    const Guard guard(engine.lock);
    if (all_.empty() || engine.running() == nullptr) return;
    engine.running()->process.sweep();
    const bool drained = engine.running()->drained();
    for (auto& one : all_) {
      if (one->window == nullptr || one->gone()) {
        one = nullptr;
      } else if (drained && one->left_by_all()) {
        ended.push_back(std::move(one));
      }
    }
    std::erase(all_, nullptr);
  }
  for (const auto& one : ended) {
    destroy_window(one->window);
    lifetime.count_own(-1);
  }
}

}  // namespace oriel::mpi
