// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/waiting.hpp"

#include <sched.h>

#include <chrono>

#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

// A poll costs a tenth of a microsecond, or a whole one with a network; a yield without another
// runnable thread about half of one. Even with a processor for every rank another program may be
// using it.
constexpr unsigned polls_per_yield = 4;
constexpr unsigned polls_per_rare_yield = 1024;

// Rounds of yielding between two polls of the host: a poll costs about as much as thirty sweeps.
constexpr long rounds_per_host_poll = 64;
// Reading the clock takes about as long as one round.
constexpr unsigned rounds_per_look_at_the_clock = 64;
// A hundred times the duration of a poll of the host.
constexpr std::uint64_t longest_without_host = 200'000;  // nanoseconds

}  // namespace

void considerate_poll(const Engine& engine) {
  static thread_local unsigned polls = 0;
  Running* running = engine.running();
  if (running == nullptr) return;
  const unsigned enough = running->crowded() ? polls_per_yield : polls_per_rare_yield;
  if (++polls % enough == 0) ::sched_yield();
}

void polled_in_vain(const Engine& engine) {
  static thread_local long polls = 0;
  considerate_poll(engine);
  if (++polls % rounds_per_host_poll == 0) engine.running()->host.advance();
}

bool time_to_check_peers() {
  using Clock = std::chrono::steady_clock;
  constexpr unsigned polls_per_look_at_the_clock = 64;
  constexpr auto between = std::chrono::milliseconds(300);
  static thread_local unsigned polls = 0;
  static thread_local Clock::time_point last = Clock::now();
  if (++polls % polls_per_look_at_the_clock != 0) return false;
  const Clock::time_point now = Clock::now();
  if (now - last < between) return false;
  last = now;
  return true;
}

void let_others_run(Engine& engine) {
  engine.lock.release();
  polled_in_vain(engine);
  engine.lock.acquire();
}

bool sweep_once(Engine& engine) {
  bool moved = false;
  {
    const Guard guard(engine.lock);
    if (engine.busy()) moved = engine.running()->process.sweep();
  }
  moved |= engine.running()->host.complete_requests();
  return moved;
}

Waiter::Waiter(Engine& engine, bool rings)
    : engine_(engine),
      running_(*engine.running()),
      sleeper_(running_.transports.shm(), running_.spins, running_.yields, running_.crowded(),
               !rings || running_.transports.network() != nullptr) {}

/// Called in rounds that move something, too, because peers may keep this process busy: the wait
/// may depend on the host's messages, or on a peer that has ended.
bool Waiter::time_to_look_around() {
  if (++rounds_ % rounds_per_look_at_the_clock != 0) return false;
  const std::uint64_t now = nanoseconds_now();
  if (looked_ == 0) looked_ = peers_since_ = now;
  if (now - looked_ < longest_without_host) return false;
  looked_ = now;
  if (now - peers_since_ >= peer_check_interval) {
    peers_since_ = now;
    check_peers_ = true;
  }
  return true;
}

void Waiter::round() {
  if (running_.process.sweep()) {
    yields_ = 0;
    sleeper_.reset();
    const bool look = time_to_look_around();
    if (!look && !running_.host.any_to_complete()) return;
    engine_.lock.release();
    running_.host.complete_requests();
    if (look) running_.host.advance();
    engine_.lock.acquire();
    return;
  }
  engine_.lock.release();
  idle();
  engine_.lock.acquire();
}

void Waiter::round_unlocked() {
  if (sweep_once(engine_)) {
    sleeper_.reset();
    yields_ = 0;
    if (time_to_look_around()) running_.host.advance();
  } else {
    idle();
  }
}

void Waiter::idle() {
  // The host is not polled in the spin phase: short waits end sooner without it. A sleep is longer
  // than a poll of the host.
  const bool yields = !sleeper_.will_spin() && !sleeper_.will_sleep();
  if (time_to_look_around() || sleeper_.will_sleep() ||
      (yields && ++yields_ % rounds_per_host_poll == 0)) {
    running_.host.advance();
  }
  sleeper_.idle([this] { return sweep_once(engine_); }, [this] { check_peers_ = true; });
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
    if (const EngineFailure failed = lost()) return failed;
  }
  return {error, "an operation of the epoch failed"};
}

}  // namespace oriel
