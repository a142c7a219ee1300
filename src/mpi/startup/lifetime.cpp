// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/startup/lifetime.hpp"

#include <pthread.h>

#include <vector>

#include "engine/record/report_table.hpp"
#include "engine/stalls/stall_signal.hpp"
#include "engine/windows/leave_window.hpp"
#include "mpi/host/communicator_mark.hpp"
#include "mpi/host/group_ranks.hpp"
#include "mpi/host/host.hpp"
#include "mpi/mpi_t/pvars.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

Lifetime lifetime;

bool Lifetime::hold(std::string& error) {
  const std::lock_guard alone(alone_);
  static const int watched = ::pthread_atfork(nullptr, nullptr, [] { lifetime.disown(); });
  static_cast<void>(watched);  // it fails only if memory is exhausted
  if (engine.running() == nullptr) {
    // The hook decides how ranks communicate, so it is registered even if the engine then fails to
    // start. If a delete callback makes the first window within MPI_Finalize, it is too late for a
    // hook (MPICH would abort), and not needed: no rank computes there without calling MPI.
    if (!world_ends_) progress.start();
    if (!runtime.start(mpi_host, error)) return false;
    {
      const Guard guard(engine.lock);  // another thread's MPI_T call may add a sink
      Events& events = engine.running()->process.events();
      events.set_clock([] { return engine.clock.now(); });
      engine.records.start(engine, own_world_rank);
      pvar_handles.engine_begins();
      runtime.windows.open_hot_paths(!events.all_operations());
      if (events.all_locks()) engine.clock.start();
    }
    stall_signal::start();
  }
  ++holds_;
  return true;
}

void Lifetime::let_go() {
  const std::lock_guard alone(alone_);
  --holds_;
}

void Lifetime::add_window(std::uint32_t number, MPI_Group group) {
  Recorder& recorder = engine.records.recorder;
  if (recorder.records()) recorder.add_window(number, world_ranks(group));
}

void Lifetime::count_own(int change) {
  const std::lock_guard alone(alone_);
  own_ += static_cast<unsigned long>(change);
}

bool Lifetime::serialize_threads() {
  const std::lock_guard alone(alone_);
  if (engine.running() != nullptr && !engine.lock.enabled()) return false;
  engine.serialize_threads();
  return true;
}

void Lifetime::begin_session() {
  const std::lock_guard alone(alone_);
  ++sessions_;
}

bool Lifetime::ends_with_session() {
  return sessions_ <= 1 && holds_ <= own_ && !world_exists();
}

std::unique_ptr<Running> Lifetime::before_session_ends() {
  const std::lock_guard alone(alone_);
  const bool ends = ends_with_session();
  if (sessions_ != 0) --sessions_;  // otherwise the session began without Oriel's notice
  if (!ends) return nullptr;
  progress.stop();
  CommunicatorMark::forget_all();
  return take_down();
}

void Lifetime::after_session_ended(std::unique_ptr<Running> running) {
  // Another thread may have begun a session, whose engine already exists and uses the same arena.
  const std::lock_guard alone(alone_);
  const Guard guard(engine.lock);
  running = nullptr;
}

void Lifetime::disconnect() {
  if (engine.running() == nullptr) return;
  {
    const Guard guard(engine.lock);
    // Shared, so that no other thread destroys a window during the wait.
    std::vector<std::shared_ptr<WindowState>> held;
    std::vector<Window*> windows;
    for (const auto& owned : runtime.owned_handles) {
      const std::shared_ptr<WindowState>& state = owned.second->state;
      if (state->own || state->left) continue;
      held.push_back(state);
      windows.push_back(state->core);
    }
    await_other_ranks(engine, windows);
  }
  if (void (*const hook)() = disconnect_; hook != nullptr) hook();
  const Guard guard(engine.lock);
  await_last_sends(engine);
}

void Lifetime::disconnect_with_last_session() {
  {
    const std::lock_guard alone(alone_);
    if (!ends_with_session()) return;
  }
  disconnect();  // without the mutex, because it waits for other ranks
}

void Lifetime::before_world_ends() {
  const std::lock_guard alone(alone_);
  if (sessions_ == 0) engine.agent.stop();
  own_requests.free_spare();
  world_ends_ = true;
  CommunicatorMark::spare_self();
  engine.records.recorder
      .mark_end();  // rank 0 may read the record before the host's call has returned here
  progress.stop();  // some hosts wait until the hook ends
  if (sessions_ == 0) CommunicatorMark::forget_all();
}

void Lifetime::after_world_ended() {
  std::string table_folder;
  {
    const std::lock_guard alone(alone_);
    world_ends_ = false;
    const Recorder& recorder = engine.records.recorder;
    if (recorder.prints_at_end()) table_folder = recorder.table_folder();
    if (sessions_ == 0 || holds_ == 0) {
      take_down();
    } else {
      progress.start();
    }
  }
  if (!table_folder.empty()) print_report_table(table_folder);
}

void Lifetime::before_abort() {
  std::string table_folder;
  {
    // An abort must not wait for a thread that may be stuck.
    const std::unique_lock alone(alone_, std::try_to_lock);
    if (alone.owns_lock()) table_folder = engine.records.recorder.table_folder();
  }
  if (!table_folder.empty()) print_report_table(table_folder);
}

void Lifetime::disown() {
  engine.agent.disown();
  engine.disown();
}

std::unique_ptr<Running> Lifetime::take_down() {
  engine.agent.stop();
  holds_ = own_ = 0;
  {
    const Guard guard(engine.lock);
    own_requests.forget();
    pvar_handles.engine_ends();
    engine.records.stop(engine);
  }
  own_requests.free_spare();
  return runtime.stop();
}

}  // namespace oriel::mpi
