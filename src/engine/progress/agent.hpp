// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "transport/shm/wake_event.hpp"

namespace oriel {

/// The progress agent (S5): a thread that serves other ranks' messages while this one computes
/// outside MPI. It runs only where some window has remote ranks and may be locked, and acts only
/// when no MPI call has swept for an interval (ORIEL_AGENT_INTERVAL), which in a program that has
/// been busy in MPI it finds out after seventeen of them at the latest. Then, until an MPI call
/// does, it sleeps on the network, or without one at the process's doorbell, and sweeps when
/// something comes. It makes no MPI call: the program may have asked for a single thread.
class Agent {
 public:
  /// Without the process lock, on a thread of the program. Nothing if it runs already. Where no
  /// thread can be had it says so on standard error: others are then served in MPI calls only.
  void start();
  void stop();
  bool running() const { return thread_ != nullptr; }
  /// How often it has swept for other ranks. Not while it runs.
  std::uint64_t served() const { return served_; }
  /// With the process lock: whether it is the agent that has it, and sweeps.
  bool sweeping() const { return sweeping_; }
  /// In the child of a fork there is no such thread, and nobody to wait for.
  void disown() { [[maybe_unused]] const std::thread* parents = thread_.release(); }
  /// A call returns with something under way that others can go on with: if the program now
  /// computes, the agent is needed soon.
  void wake() { wake_event_.give(); }
  /// The same after an operation: many programs wait for it at once, and do not need the agent.
  /// While that has been so, only now and then one is heard.
  void wake_after_operation() {
    if (wake_event_.given()) return;
    const unsigned unheard = unheard_.load(std::memory_order_relaxed);
    if (unheard == 0) return wake_event_.give();
    unheard_.store(unheard - 1, std::memory_order_relaxed);
  }

 private:
  /// What a look has found; `left`: somebody else has swept since the last one, or is about to.
  enum class Look : std::uint8_t { left, quiet, moved };

  void run();
  bool serve();
  Look look();
  /// Until something may have come; false if there is no network to sleep on.
  bool sleep_on_network();

  std::mutex starting_;  // threads of the program may make windows at the same time
  std::once_flag at_exit_;
  std::unique_ptr<std::thread> thread_;
  std::uint64_t served_ = 0;
  bool refused_ = false;  // the system has once, and the user has been told
  std::atomic<bool> stopping_{false};
  WakeEvent wake_event_;
  std::atomic<unsigned> unheard_{0};  // so many wake-ups after operations come to nothing
  unsigned in_vain_ = 0;              // what unheard_ was set to last
  std::uint64_t interval_ = 0;        // nanoseconds
  std::uint64_t longest_rest_ = 0;
  std::uint64_t seen_ = 0;  // sweeps when we looked last
  bool sweeping_ = false;   // with the process lock
};

}  // namespace oriel
