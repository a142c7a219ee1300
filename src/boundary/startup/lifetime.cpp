// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/startup/lifetime.hpp"

#include <pthread.h>

#include "boundary/host/host.hpp"
#include "boundary/progress/progress.hpp"
#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/known_peers.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

Lifetime lifetime;

bool Lifetime::hold(std::string& error) {
  const std::lock_guard alone(alone_);
  static const int watched = ::pthread_atfork(nullptr, nullptr, [] { lifetime.disown(); });
  static_cast<void>(watched);  // it fails for want of memory only
  if (runtime.engine() == nullptr) {
    // Whether we are hooked decides how the ranks talk: also on one that has nothing to say.
    // A delete callback may make the first window while MPI ends, too late for a hook: MPICH would
    // abort. Nobody computes there without calling MPI.
    if (!world_ends_) progress.start();
    if (!runtime.start(error)) return false;
    Events& events = runtime.engine()->process.events();
    run_statistics_.start(events);
    trace_file_.start(events);
  }
  ++holds_;
  return true;
}

void Lifetime::let_go() {
  {
    const std::lock_guard alone(alone_);
    if (--holds_ != 0) return;
  }
  // The program has no window left. Without the lock, which delete callbacks of the program's want
  // that run while somebody frees a window of the host's.
  runtime.host_windows.keep_few();
}

void Lifetime::count_own(int change) {
  const std::lock_guard alone(alone_);
  own_ += static_cast<unsigned long>(change);
}

void Lifetime::begin_session() {
  const std::lock_guard alone(alone_);
  ++sessions_;
}

bool Lifetime::ends_with_session() {
  return sessions_ <= 1 && holds_ <= own_ && !world_exists();
}

std::unique_ptr<Engine> Lifetime::before_session_ends() {
  const std::lock_guard alone(alone_);
  const bool ends = ends_with_session();
  if (sessions_ != 0) --sessions_;  // else begun past us
  if (!ends) return nullptr;
  runtime.host_windows.empty();  // a let_go() may not have come to it yet
  progress.stop();
  forget_known_peers();
  return take_down();
}

void Lifetime::after_session_ended(std::unique_ptr<Engine> engine) {
  // Another thread may have begun a session: its engine is made, and works, on the same arena.
  const std::lock_guard alone(alone_);
  const Guard guard(runtime.lock);
  engine = nullptr;
}

void Lifetime::disconnect() {
  void (*const hook)() = disconnect_;
  if (hook != nullptr && runtime.engine() != nullptr) hook();
}

void Lifetime::disconnect_with_last_session() {
  {
    const std::lock_guard alone(alone_);
    if (!ends_with_session()) return;
  }
  disconnect();  // others are waited for
}

void Lifetime::before_world_ends() {
  const std::lock_guard alone(alone_);
  if (sessions_ == 0) progress.agent.stop();
  runtime.host_windows.empty();
  own_requests.persistent.free_spare();
  world_ends_ = true;
  progress.stop();  // some hosts wait for it
  forget_known_peers();
}

void Lifetime::after_world_ended() {
  const std::lock_guard alone(alone_);
  world_ends_ = false;
  if (sessions_ == 0 || holds_ == 0) {
    take_down();
  } else {
    progress.start();
  }
}

void Lifetime::disown() {
  progress.agent.disown();
  runtime.disown();
  runtime.host_windows.forget();
}

std::unique_ptr<Engine> Lifetime::take_down() {
  progress.agent.stop();
  if (runtime.engine() != nullptr) run_statistics_.report();
  holds_ = own_ = 0;
  runtime.host_windows.forget();
  {
    const Guard guard(runtime.lock);
    own_requests.persistent.forget();
  }
  own_requests.persistent.free_spare();
  trace_file_.stop();
  return runtime.stop();
}

}  // namespace oriel::boundary
