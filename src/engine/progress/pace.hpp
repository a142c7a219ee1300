// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/steps.hpp"

namespace oriel {

class ProcessLock;
struct Running;

/// The steps that a thread has spent in calls on windows, without their waits. From bit 32
/// (`one_hot_call`) on, the number of its calls on hot paths, so that one addition counts both.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local StepCount steps_of_thread;
constexpr std::uint64_t one_hot_call = std::uint64_t{1} << 32;

/// Why a call that does not wait sweeps.
enum class Passing : std::uint8_t {
  polls,         // a program may repeat the call in order to wait (E10)
  synchronizes,  // the call opens or closes an epoch
  issues,        // a program makes many such calls in a row
};

/// True some ten times a second, when a wait or a thread that polls must check whether its peers
/// live.
class PeerTimer {
 public:
  /// Reads the clock.
  bool due();

 private:
  std::uint64_t checked_ = 0;  // nanoseconds; 0: due() has not been called
};

/// Decides when a thread does what its call does not ask for: sweep, advance the host, yield the
/// processor, check the peers. docs/design/engine.md (*How the engine waits*) has the rules. Waiter
/// decides this for one blocking call, Agent for the agent's thread.
class Pace {
 public:
  explicit Pace(Running& running);

  /// True if the node has more ranks than processors: a waiting call must yield the processor.
  bool crowded() const;
  /// How often a wait sweeps before it yields, and yields before it sleeps.
  long spins() const { return crowded() ? 0 : spins_; }
  long yields() const { return crowded() ? yields_ / 10 : yields_; }
  /// The steps of a wait's sweep, which takes `steps` unless it polls a network.
  std::uint64_t steps_of_sweep(std::uint64_t steps) const;

  /// A sweep in a call that does not wait. With the process lock.
  void sweep_in_passing(Passing passing);
  /// A sweep in a call on its hot path. Several threads may make such calls at the same time.
  /// Without the process lock.
  void sweep_on_hot_path(ProcessLock& lock);
  /// Called after each host interval of this thread. Advances the host, so that a peer's long
  /// message advances while this rank only puts (E10). Adds the thread's hot calls to the counts
  /// that peers see. Without the process lock.
  void end_host_interval();

  /// Called when a poll has found nothing. Yields the processor now and then; if the node is
  /// crowded, often. Returns true after each host interval. `polls`: the caller's count. A loop
  /// that polls has a count of its own, because another one, such as the hook that its polls call,
  /// would end the intervals of a common count.
  bool yield_after_poll(StepCount& polls) const;
  /// yield_after_poll() for a poll of the program, with end_host_interval(). Returns true if the
  /// caller must check whether the peers live. Without the process lock.
  bool end_vain_poll();
  /// end_vain_poll() for a caller with the process lock, which is released meanwhile.
  bool end_vain_poll(ProcessLock& held);

 private:
  bool polls_network() const;

  Running& running_;
  StepCount passed_;  // steps of calls since a sweep that was not asked for. With the process lock.
  long spins_;
  long yields_;
  bool launched_crowded_;  // the launcher started more ranks on this node than it has processors
};

}  // namespace oriel
