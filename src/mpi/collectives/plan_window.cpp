// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/plan_window.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/progress/lost_peers.hpp"
#include "engine/progress/waiting.hpp"
#include "engine/tuning/tuner.hpp"
#include "mpi/collectives/leaving_windows.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/startup/lifetime.hpp"
#include "mpi/windows/window_maker.hpp"

namespace oriel::mpi {
namespace {

/// The memory that plan windows expose. No peer accesses it.
std::byte exposed{};

/// The plan windows that are open, of all threads. Under the process lock.
std::vector<PlanWindow*> open_plan_windows;

}  // namespace

/// Called before MPI ends, because no thread sweeps afterwards. Two steps:
///   1. Messages of a completed request may not have been sent yet. So the ranks of each plan
///      registry that has messages enter one more round of its exchange. Messages of one rank to
///      another keep their order, so a rank that has finished the round has received all messages
///      that were sent to it before. A plan registry whose communicator was freed is left out,
///      because some of its ranks may have left it already.
///   2. An exchange word is in its sender's control block, so a rank must not end while others may
///      still read its words. So all ranks leave the plan registry's window, and wait for that, by
///      fences, whose words are in their receivers' control blocks.
void PlanWindow::disconnect_all() {
  const Guard guard(engine.lock);
  std::vector<PlanWindow*> sending;
  std::ranges::copy_if(open_plan_windows, std::back_inserter(sending), [](const PlanWindow* plans) {
    return !plans->orphaned_ && plans->sends_messages();
  });
  for (PlanWindow* plans : sending) plans->window_->core->begin_exchange({});
  for (PlanWindow* plans : sending) {
    sweep_until(
        engine, plans->window_->core->events(), {WaitReason::window},
        [&] { return plans->window_->core->exchange().over(); },
        [&] { return look_for_any_lost(plans->window()); });
  }
  for (PlanWindow* plans : open_plan_windows)
    leaving_windows.add_plan_window(plans->window_->handle);
  leaving_windows.wait_for_plan_windows();
  open_plan_windows.clear();
}

int PlanWindow::open(const char* call, MPI_Comm communicator) {
  if (!opened()) {
    if (const int code = create(call, communicator); code != MPI_SUCCESS) return code;
  }
  return ask_nodes(call, communicator);
}

int PlanWindow::create(const char* call, MPI_Comm communicator) {
  MPI_Win handle = MPI_WIN_NULL;
  const int code =
      WindowMaker(call, communicator, MPI_INFO_NULL).create(&exposed, sizeof exposed, 1, &handle);
  if (code != MPI_SUCCESS) return code;
  lifetime.count_own(1);
  const CopyCosts& costs = Tuner::copy_costs();
  const Guard guard(engine.lock);
  window_ = runtime.windows.find(handle_key(handle));
  window_->state->own = true;
  window_->user_state.name = "persistent collectives";
  window_->core->set_name(window_->user_state.name);
  open_plan_windows.push_back(this);
  lifetime.set_disconnect(&PlanWindow::disconnect_all);
  // Without the host's progress hook there are no pipelines: one side could be in a call of the
  // host's that waits for the other side.
  core().set_copies({costs.most_copied_twice, costs.worth_a_call, progress.hooked()});
  return MPI_SUCCESS;
}

int PlanWindow::ask_nodes(const char* call, MPI_Comm communicator) {
  Failure lost;
  {
    const Guard guard(engine.lock);
    if (!core().nodes().empty()) return MPI_SUCCESS;
    if (!asked_) core().ask_nodes();
    asked_ = true;
    lost = sweep_until(
        engine, window().events(), {WaitReason::collective}, [&] { return core().nodes_known(); },
        [&] { return look_for_any_lost(window()); });
  }
  return lost ? raise(communicator, call, lost.error_class, lost.reason) : MPI_SUCCESS;
}

void PlanWindow::free(Plan& plan) {
  core().free(plan);
  close_if_unused();
}

void PlanWindow::orphan() {
  orphaned_ = true;
  close_if_unused();
}

void PlanWindow::close_if_unused() {
  if (orphaned_ && opened() && core().plans() + watchers_ == 0) close();
}

void PlanWindow::close() {
  std::erase(open_plan_windows, this);
  leaving_windows.add_plan_window(window_->handle);
  window_ = nullptr;
}

}  // namespace oriel::mpi
