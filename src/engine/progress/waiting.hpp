// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/base/steps.hpp"
#include "engine/engine.hpp"
#include "engine/process/engine_failure.hpp"
#include "engine/progress/lost_peers.hpp"
#include "engine/stalls/long_wait.hpp"
#include "transport/shm/sleeper.hpp"

namespace oriel {

/// How one blocking call waits: it sweeps, and in between spins, yields and sleeps. After each host
/// interval, and before each sleep, it lets the host advance its own messages (E10) and checks the
/// clock.
class Waiter {
 public:
  /// `rings`: the awaited event rings this process's doorbell, unless it is caused by another node.
  /// The host's own messages do not ring.
  explicit Waiter(Engine& engine, bool rings = true);

  /// One round. The caller holds the process lock, which is released while there is nothing to do.
  void round();
  /// round() for a caller without the lock.
  void round_unlocked();
  /// Returns true once whenever it is time to check whether the awaited peers live.
  bool check_peers() { return std::exchange(check_peers_, false); }

 private:
  void begin_again();
  void idle();
  bool yields_for_long();
  void end_host_interval();

  Engine& engine_;
  Running& running_;
  Sleeper sleeper_;
  StepCount passed_;                  // steps of this wait
  long spins_;                        // rounds of spinning that remain until something moves
  long yields_;                       // rounds of yielding that remain then
  std::uint64_t yielding_since_ = 0;  // nanoseconds; 0: not known yet
  PeerTimer peer_timer_;
  bool check_peers_ = false;
};

/// One sweep. Takes the process lock. Returns whether there was anything to do.
bool sweep_once(Engine& engine);

/// The events of waits that are on no window in particular.
inline WindowEvents events_of_no_window(const Engine& engine) {
  return {engine.running()->process.events(), {}};
}

/// Reports a wait of a call, from its beginning to its end. With the process lock.
class WaitEvent {
 public:
  WaitEvent(const WindowEvents& events, const Wait& wait)
      : events_(events), wait_(events.begin_wait(wait)) {}
  ~WaitEvent() { events_.end_wait(wait_); }
  WaitEvent(const WaitEvent&) = delete;
  WaitEvent& operator=(const WaitEvent&) = delete;

  /// The wait with its number.
  const Wait& wait() const { return wait_; }

 private:
  WindowEvents events_;
  Wait wait_;
};

/// Waits until done() is true, or lost(), which is called now and then, returns a failure, or true;
/// that is the result. The caller holds the process lock. `events`, `wait`: the window, and the
/// reason of the wait.
template <typename Done, typename Lost>
std::invoke_result_t<Lost&> sweep_until(Engine& engine, const WindowEvents& events,
                                        const Wait& wait, Done&& done, Lost&& lost) {
  if (done()) return {};
  const WaitEvent event(events, wait);
  const Pace& pace = engine.running()->pace;
  if (!pace.crowded()) {
    // Most waits last for one cache-line transfer. For one poll interval, a wait keeps the lock, so
    // that it does nothing between two sweeps.
    const std::uint64_t sweeps = steps::poll_interval / pace.steps_of_sweep(steps::sweep);
    for (std::uint64_t i = 0; i < sweeps; ++i) {
      engine.running()->process.sweep();
      if (done()) return {};
    }
  }
  Waiter waiter(engine);
  LongWait long_wait(engine, events, event.wait());
  while (true) {
    waiter.round();
    if (done()) return {};
    if (waiter.check_peers()) {
      if (const auto failure = lost()) return failure;
      long_wait.look();
    }
  }
}

/// sweep_until() for waits that the window's epochs end.
template <typename Done>
EngineFailure wait_until(Engine& engine, Window& window, const Wait& wait, Done&& done) {
  return sweep_until(engine, window.events(), wait, done,
                     LostPeerCheck(engine.running()->process, window));
}

/// The failure of a call that has failed by Error::peer_lost; empty: the lost rank is not known. A
/// process counts as alive for a moment while it ends. If all do, the lost rank is the call's
/// target.
EngineFailure find_lost(Window& window, const Wait& wait, LostPeerCheck& lost);

/// Waits until the flag is set, and returns the flag to the engine.
EngineFailure wait_for(Engine& engine, Window& window, const Wait& wait, Flag& flag,
                       LostPeerCheck& lost);

/// Waits for the target's lock if Window::awaits_lock(operation) says so, and as long as it does.
/// The caller issues the operation next. If the lock is held then, the result is in the origin's
/// buffer when the call returns, except that of an aggregated get.
EngineFailure await_lock(Engine& engine, Window& window, const Operation& operation);

/// A blocking call: calls its nonblocking form, start(completion), and sweeps until completion.
template <typename Start>
EngineFailure block(Engine& engine, Window& window, const Wait& wait, Start&& start,
                    LostPeerCheck& lost) {
  Flag& flag = engine.spare_flag();
  const Outcome outcome = start(&flag);
  if (outcome.done) [[likely]] {
    if (outcome.error == Error::peer_lost) [[unlikely]] {
      if (const EngineFailure failed = find_lost(window, wait, lost)) return failed;
    }
    const EngineFailure failed{outcome.error, window.reason()};
    engine.sweep_in_passing(Passing::synchronizes);
    return failed;
  }
  engine.take_spare_flag();
  return wait_for(engine, window, wait, flag, lost);
}
template <typename Start>
inline EngineFailure block(Engine& engine, Window& window, const Wait& wait, Start&& start) {
  LostPeerCheck lost(engine.running()->process, window);
  return block(engine, window, wait, start, lost);
}

}  // namespace oriel
