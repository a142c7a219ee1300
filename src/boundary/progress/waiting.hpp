// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "boundary/host/errors.hpp"
#include "boundary/runtime/lost_peers.hpp"
#include "boundary/runtime/runtime.hpp"
#include "engine/stalls/long_wait.hpp"
#include "transport/shm/sleeper.hpp"

namespace oriel::boundary {

/// One blocking call's way to wait: sweeps, lets the host advance its own traffic (E10), and in
/// between spins, yields and sleeps.
class Waiter {
 public:
  /// `rings`: what the call waits for rings this process's doorbell, unless it comes from another
  /// node. The host's own messages do not ring.
  explicit Waiter(bool rings = true);

  /// One round; the caller holds the process lock, which is released where there is nothing to do.
  void round();
  /// The same for a caller without the lock.
  void round_unlocked();
  /// It is time to look whether the awaited peers live. Asked once per time.
  bool check_peers() { return std::exchange(check_peers_, false); }

 private:
  void idle();
  bool time_to_look_around();

  Running& running_;
  Sleeper sleeper_;
  long yields_ = 0;                // rounds of yielding since something moved
  unsigned rounds_ = 0;            // until the next look at the clock
  std::uint64_t looked_ = 0;       // around, by the clock; 0: never
  std::uint64_t peers_since_ = 0;  // a look at the peers
  bool check_peers_ = false;
};

/// For a program that polls and finds nothing: others may run, and now and then the host's own
/// traffic is carried on. Without the process lock.
void polled_in_vain();
/// The same with the process lock, which is not held meanwhile.
void let_others_run();

/// For the same program: whether it is time to look if the peers live. True some times a second.
bool time_to_check_peers();

/// Carries what the sweep leaves to be done without the lock: tells the host of completed requests.
bool sweep_once();

/// About two microseconds.
inline constexpr int brisk_sweeps = 100;

/// Reports the waits that are on no window in particular.
inline WindowEvents events_of_no_window() {
  return {engine.running()->process.events(), {}};
}

/// Reports that a call waits, from its beginning to its end. With the process lock.
class WaitEvent {
 public:
  WaitEvent(const WindowEvents& events, const Wait& wait) : events_(events), wait_(wait) {
    events_.wait_begun(wait_);
  }
  ~WaitEvent() { events_.wait_ended(wait_); }
  WaitEvent(const WaitEvent&) = delete;
  WaitEvent& operator=(const WaitEvent&) = delete;

  /// With the number that the Recorder has given it.
  const Wait& wait() const { return wait_; }

 private:
  WindowEvents events_;
  Wait wait_;
};

/// Waits until done() is true, or lost() is a failure: that is asked now and then. The caller holds
/// the process lock. `events`, `wait`: on which window, and for what.
template <typename Done, typename Lost>
Failure sweep_until(const WindowEvents& events, const Wait& wait, Done&& done, Lost&& lost) {
  if (done()) return {};
  const WaitEvent event(events, wait);
  if (!engine.running()->crowded()) {
    // The usual wait is a cache line's journey: the lock is kept and the host not looked at for it.
    for (int i = 0; i < brisk_sweeps; ++i) {
      engine.running()->process.sweep();
      if (done()) return {};
    }
  }
  Waiter waiter;
  LongWait long_wait(events, event.wait());
  while (true) {
    waiter.round();
    if (done()) return {};
    if (waiter.check_peers()) {
      if (const Failure failure = lost()) return failure;
      long_wait.look();
    }
  }
}

/// The same for what a window's epochs wait for.
template <typename Done>
Failure wait_until(const WindowHandle& window, const Wait& wait, Done&& done) {
  return sweep_until(window.core->events(), wait, done,
                     [&] { return look_for_lost_peers(*window.state); });
}

/// Waits until the flag is told, and gives it back.
Failure wait_for(const WindowHandle& window, const Wait& wait, Flag& flag);

/// A blocking call from its nonblocking form: start(completion) and sweeps until that is told.
template <typename Start>
inline Failure block(const WindowHandle& window, const Wait& wait, Start&& start) {
  Flag& flag = engine.spare_flag();
  const Outcome outcome = start(&flag);
  if (outcome.done) [[likely]] {
    if (outcome.error == Error::peer_lost) [[unlikely]] {
      if (const Failure lost = look_for_lost_peers(*window.state)) return lost;
      const int rank = window.core->epochs().lost_source(-1);
      if (rank >= 0) return lost_rank(*window.state, rank);
    }
    const Failure failed = failure(outcome.error, window.core->reason());
    carry_on();
    return failed;
  }
  engine.take_spare_flag();
  return wait_for(window, wait, flag);
}

}  // namespace oriel::boundary
