// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/waiting.hpp"
#include "boundary/host/host_mpi.hpp"

#include <chrono>

#include "boundary/requests/requests.hpp"

namespace oriel::boundary {
namespace {

// Idle rounds between two looks at the host's traffic: the look costs about as much as thirty
// sweeps.
constexpr long rounds_per_host_poll = 64;

void advance_host() {
  int flag = 0;
  host_mpi().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, runtime.self.get(), &flag, MPI_STATUS_IGNORE);
}

}  // namespace

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

bool sweep_once() {
  bool moved = false;
  {
    const Guard guard(runtime.lock);
    if (runtime.busy()) moved = runtime.engine()->process.sweep();
  }
  moved |= requests.tell_host();
  return moved;
}

Waiter::Waiter()
    : engine_(*runtime.engine()),
      sleeper_(engine_.routes.node(), engine_.spins, engine_.yields, engine_.crowded(),
               engine_.routes.network() != nullptr) {}

void Waiter::round() {
  if (engine_.process.sweep()) {
    idle_rounds_ = 0;
    sleeper_.reset();
    if (!requests.untold()) return;
    runtime.lock.release();
    requests.tell_host();
    runtime.lock.acquire();
    return;
  }
  runtime.lock.release();
  // The spin phase is left alone: what comes within it comes faster without the host.
  const bool spinning = !engine_.crowded() && idle_rounds_ < engine_.spins;
  if (++idle_rounds_ % rounds_per_host_poll == 0 && !spinning) advance_host();
  idle();
  runtime.lock.acquire();
}

void Waiter::round_unlocked() {
  if (sweep_once()) {
    sleeper_.reset();
  } else {
    idle();
  }
}

void Waiter::idle() {
  sleeper_.idle([] { return sweep_once(); }, [this] { check_peers_ = true; });
}

Failure wait_for(const BoundWindow& window, Flag& flag) {
  if (const Failure lost = wait_until(window, [&] { return flag.done(); })) {
    return lost;  // the flag stays behind: somebody may still tell it
  }
  const Error error = flag.error();
  runtime.give_back(flag);
  if (error == Error::peer_lost) {
    if (const Failure lost = look_for_lost_peers(window)) return lost;
  }
  return failure(error, "an operation of the epoch failed");
}

}  // namespace oriel::boundary
