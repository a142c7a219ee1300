// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/waiting.hpp"

#include <sched.h>

#include "core/base/shared_words.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {

namespace {

// If other threads want the processor, one yield may take a scheduler's slice. Twice the time of
// all yields if none does.
constexpr std::uint64_t longest_yielding = peer_check_interval / 5;

}  // namespace

bool sweep_once(Engine& engine) {
  const Guard guard(engine.lock);
  return engine.busy() && engine.running()->process.sweep();
}

Waiter::Waiter(Engine& engine, bool rings)
    : engine_(engine),
      running_(*engine.running()),
      sleeper_(running_.transports.shm(), !rings || running_.transports.network() != nullptr),
      spins_(running_.pace.spins()),
      yields_(running_.pace.yields()) {}

void Waiter::begin_again() {
  spins_ = running_.pace.spins();
  yields_ = running_.pace.yields();
  yielding_since_ = 0;
  sleeper_.rise();
}

/// Also called in rounds that move something, because peers may keep this process busy: the wait
/// may depend on the host's messages, or on a peer that has ended.
void Waiter::end_host_interval() {
  running_.host.advance();
  if (peer_timer_.due()) check_peers_ = true;
}

void Waiter::round() {
  if (running_.process.sweep()) {
    begin_again();
    if ((passed_.add(steps::poll) & steps::host_interval) == 0) return;
    engine_.lock.release();
    end_host_interval();
    engine_.lock.acquire();
    return;
  }
  engine_.lock.release();
  idle();
  engine_.lock.acquire();
}

void Waiter::round_unlocked() {
  if (sweep_once(engine_)) {
    begin_again();
    if ((passed_.add(steps::poll) & steps::host_interval) != 0) end_host_interval();
  } else {
    idle();
  }
}

/// Called when a sweep has moved nothing.
void Waiter::idle() {
  if (spins_ > 0) {
    --spins_;
    const std::uint64_t passed = passed_.add(running_.pace.steps_of_sweep(steps::call));
    if ((passed & steps::host_interval) != 0) end_host_interval();
    if ((passed & steps::yield_interval) != 0) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  } else if (yields_ > 0) {
    --yields_;
    const std::uint64_t passed = passed_.add(steps::poll);
    if ((passed & steps::host_interval) != 0) end_host_interval();
    if ((passed & steps::poll_interval) != 0 && yields_for_long()) yields_ = 0;
    ::sched_yield();
  } else {
    end_host_interval();
    if (sleeper_.sleep([this] { return sweep_once(engine_); })) begin_again();
  }
}

bool Waiter::yields_for_long() {
  const std::uint64_t now = nanoseconds_now();
  if (yielding_since_ == 0) yielding_since_ = now;
  return now - yielding_since_ > longest_yielding;
}

EngineFailure find_lost(Window& window, const Wait& wait, LostPeerCheck& lost) {
  if (const EngineFailure failed = lost()) return failed;
  if (const EngineFailure failed = look_for_any_lost(window)) return failed;
  return wait.rank >= 0 ? lost_rank(window, wait.rank) : EngineFailure();
}

EngineFailure wait_for(Engine& engine, Window& window, const Wait& wait, Flag& flag,
                       LostPeerCheck& lost) {
  if (const EngineFailure failed =
          sweep_until(engine, window.events(), wait, [&] { return flag.done(); }, lost)) {
    return failed;  // the flag is abandoned: the core may still set it
  }
  const Error error = flag.error();
  engine.give_back(flag);
  if (error == Error::peer_lost) {
    if (const EngineFailure failed = find_lost(window, wait, lost)) return failed;
  }
  return {error, "an operation of the epoch failed"};
}

EngineFailure await_lock(Engine& engine, Window& window, const Operation& operation) {
  if (!window.awaits_lock(operation)) return {};
  return wait_until(engine, window, {WaitReason::lock, operation.target}, [&] {
    return window.epochs().try_acquire(operation.target) || !window.awaits_lock(operation);
  });
}

}  // namespace oriel
