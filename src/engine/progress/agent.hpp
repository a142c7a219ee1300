// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/progress/sweep_pauses.hpp"
#include "transport/shm/futex.hpp"

namespace oriel {

class Engine;
class Process;

/// The progress agent (S5): a thread that serves other ranks' messages while the program computes
/// outside MPI. It runs only if some window has remote ranks and may be locked. It acts only if no
/// MPI call has swept for an interval (ORIEL_AGENT_INTERVAL; five times that on a crowded node). In
/// a program that has been busy in MPI, it detects this after at most sixteen intervals more. Until
/// an MPI call sweeps again, it sleeps on the network's descriptors, or without a network on the
/// process's doorbell, and sweeps when it is woken. If the network signals no arrivals, it sweeps
/// in rows, with pauses in between. It makes no MPI call: the program may have requested
/// MPI_THREAD_SINGLE.
class Agent {
 public:
  explicit Agent(Engine& engine) : engine_(engine) {}
  /// Called on a thread of the program, without the process lock. Does nothing if the agent runs.
  /// If the system refuses a thread, reports on standard error that this rank serves others only in
  /// MPI calls. An agent that runs must be stopped before it is destroyed; the end of the process
  /// stops the one that was started last.
  void start();
  /// Returns when the agent has ended. Any thread may call it, also while another one does.
  void stop();
  /// Not to be called while another thread starts or stops the agent.
  bool running() const { return thread_ != nullptr; }
  /// How often the agent has swept for other ranks. Not to be called while it runs.
  std::uint64_t served() const { return served_; }
  /// True if the agent holds the process lock and sweeps. With the process lock.
  bool sweeping() const { return sweeping_; }
  /// In the child of a fork the thread does not exist and cannot be joined, and another thread of
  /// the parent's may have held the mutex of stop().
  void disown();
  /// Called when an MPI call returns with operations pending that other ranks can advance: if the
  /// program now computes, the agent is needed soon.
  void wake() { wake_event_.signal(); }
  /// wake() after an operation. Many programs wait for the operation at once, and do not need the
  /// agent; while that is so, only one wake-up in several reaches the agent.
  void wake_after_operation() {
    if (wake_event_.is_signaled()) return;
    const unsigned unheard = unheard_.load(std::memory_order_relaxed);
    if (unheard == 0) return wake_event_.signal();
    unheard_.store(unheard - 1, std::memory_order_relaxed);
  }

 private:
  /// The result of look(). `left`: another thread has swept since the last look(), or holds the
  /// lock.
  enum class Look : std::uint8_t { left, quiet, moved };

  void run();
  bool serve();
  void set_sweeping(Process& process, bool sweeping);
  Look look();
  bool sweep_in_row(Process& process);
  /// Sleeps until the network may have work. Returns false if there is no network to sleep on.
  bool sleep_on_network(SweepPauses& pauses);

  Engine& engine_;
  // Held while the agent is started or stopped: threads of the program may make windows at the same
  // time, and one thread may call exit() while another one is in MPI_Finalize.
  std::mutex changing_;
  std::unique_ptr<std::thread> thread_;
  std::uint64_t served_ = 0;
  bool refused_ = false;  // the system has refused a thread once, and the user has been notified
  std::atomic<bool> stopping_{false};
  WakeEvent wake_event_;
  std::atomic<unsigned> unheard_{0};  // the number of wake-ups after operations still to be dropped
  unsigned in_vain_ = 0;              // the last value that unheard_ was set to
  std::uint64_t interval_ = 0;        // nanoseconds
  std::uint64_t long_interval_ = 0;
  std::uint64_t longest_rest_ = 0;
  std::uint64_t seen_ = 0;  // the number of sweeps at the last look()
  bool sweeping_ = false;   // with the process lock
};

}  // namespace oriel
