// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/waiting.hpp"

#include <chrono>

#include "boundary/progress/progress.hpp"
#include "boundary/requests/own_requests.hpp"
#include "transport/shm/clock.hpp"

namespace oriel::boundary {
namespace {

// Rounds of yielding between two polls of the host: a poll costs about as much as thirty sweeps.
constexpr long rounds_per_host_poll = 64;
// Reading the clock takes about as long as one round.
constexpr unsigned rounds_per_look_at_the_clock = 64;
// A hundred times the duration of a poll of the host.
constexpr std::uint64_t longest_without_host = 200'000;  // nanoseconds

}  // namespace

void polled_in_vain() {
  static thread_local long polls = 0;
  considerate_poll();
  if (++polls % rounds_per_host_poll == 0) runtime.self.advance_host();
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

void let_others_run() {
  engine.lock.release();
  polled_in_vain();
  engine.lock.acquire();
}

bool sweep_once() {
  bool moved = false;
  {
    const Guard guard(engine.lock);
    if (engine.busy()) moved = engine.running()->process.sweep();
  }
  moved |= own_requests.pending.complete_at_host();
  return moved;
}

Waiter::Waiter(bool rings)
    : running_(*engine.running()),
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
    if (!look && !own_requests.pending.any_to_complete()) return;
    engine.lock.release();
    own_requests.pending.complete_at_host();
    if (look) runtime.self.advance_host();
    engine.lock.acquire();
    return;
  }
  engine.lock.release();
  idle();
  engine.lock.acquire();
}

void Waiter::round_unlocked() {
  if (sweep_once()) {
    sleeper_.reset();
    yields_ = 0;
    if (time_to_look_around()) runtime.self.advance_host();
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
    runtime.self.advance_host();
  }
  sleeper_.idle([] { return sweep_once(); }, [this] { check_peers_ = true; });
}

Failure wait_for(const WindowHandle& window, const Wait& wait, Flag& flag) {
  if (const Failure lost = wait_until(window, wait, [&] { return flag.done(); })) {
    return lost;  // the flag is abandoned: the core may still set it
  }
  const Error error = flag.error();
  engine.give_back(flag);
  if (error == Error::peer_lost) {
    if (const Failure lost = look_for_lost_peers(*window.state)) return lost;
  }
  return failure(error, "an operation of the epoch failed");
}

}  // namespace oriel::boundary
