// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/steps.hpp"
#include "core/base/thread_lines.hpp"
#include "core/process.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/process/call_site.hpp"
#include "engine/process/line_keeper.hpp"
#include "engine/process/process_lock.hpp"
#include "engine/process/tick_clock.hpp"
#include "engine/progress/agent.hpp"
#include "engine/progress/pace.hpp"
#include "engine/record/records.hpp"
#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/process_block.hpp"

namespace oriel {

/// The state that all windows of a process share, from the first window until MPI ends.
struct Running {
  Running(std::unique_ptr<ShmTransport> node, Networks& networks, Host& of);

  CompositeTransport transports;
  Process process;
  Host& host;
  CallCounts& calls;
  Pace pace{*this};
  std::uint32_t next_window = 1;  // number of the next window
  std::uint32_t last_number = 0;  // the last Operation::number
  std::string refusals;           // why ranks could not open networks before the open one
  bool node_sends = false;        // ranks of this node send messages to this rank in some window

  /// True if a window with remote ranks needs the agent. A window that is never locked does not,
  /// because every rank calls MPI by itself; but it does if a rank may wait in a call of the host's
  /// that does not sweep.
  bool needs_agent(bool no_locks) const { return !no_locks || !host.waits_sweep(); }
  /// True if everything that this process has sent has left its send queues.
  bool drained() {
    return !transports.shm().backlogged() &&
           (transports.network() == nullptr || transports.network()->drained());
  }
};

class HookedWait;
class LongWait;

/// The library in one process, without anything of MPI. A process has one engine, which the
/// MPI layer defines; a test may have one for each simulated rank. So no part of the engine names a
/// global object of this class.
class Engine {
 public:
  ProcessLock lock;
  Arena arena;
  LineKeeper line_keeper;
  TickClock clock;  // read with the process lock held
  Agent agent{*this};
  Records records;  // with the process lock
  // With the process lock:
  LongWait* oldest_long_wait = nullptr;  // the first of a list
  std::vector<CallFrames> stalls;        // the calls that have waited longer than ORIEL_STALL
  std::mutex hooked_waits_mutex;         // with it hooked_waits is changed
  std::atomic<HookedWait*> hooked_waits{nullptr};  // the first of a list

  Engine() = default;
  explicit Engine(std::uint64_t first_extent) : arena(first_extent) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Null from the end of MPI, or of its last session, until the next window is made.
  Running* running() const { return running_.load(std::memory_order_acquire); }
  /// Starts the engine. `host` and `networks` must exist until it is stopped. `rank`: the process's
  /// rank in MPI_COMM_WORLD, or -1 if there is no such communicator. On failure returns false and
  /// sets `error` to a sentence.
  bool start(Host& host, Networks& networks, int rank, std::string& error);
  /// Stops the engine. The caller destroys the result; null: the engine was not running.
  std::unique_ptr<Running> stop();
  /// Called in the child of a fork: the engine remains the parent's.
  void disown();

  /// Makes the locks serialize threads from now on.
  void serialize_threads();
  /// The line of this thread. Null: the process has a single thread, or the thread has no line.
  ThreadLine* own_line() { return lock.enabled() ? line_keeper.own() : nullptr; }
  /// The set with the calling thread, whose line is `line`, for flushes of thread scope.
  ThreadSet thread_of(const ThreadLine* line) const {
    if (line != nullptr) return ThreadSet{1} << line->number;
    return lock.enabled() ? further_threads : all_threads;
  }
  /// thread_of() the line of the calling thread.
  ThreadSet this_thread() { return thread_of(own_line()); }

  /// True if any operation is pending that only a sweep can finish.
  bool busy() const {
    const Running* now = running();
    return now != nullptr && now->process.busy();
  }

  /// A sweep in a call that does not wait (Pace). With the process lock.
  void sweep_in_passing(Passing passing) {
    if (busy()) [[unlikely]]
      running()->pace.sweep_in_passing(passing);
  }
  /// A sweep in a call on its hot path (Pace). Without the process lock.
  void sweep_on_hot_path() {
    if (busy()) [[unlikely]]
      running()->pace.sweep_on_hot_path(lock);
  }
  /// Called at the end of each call on a window that has not failed. `steps`: the time of such a
  /// call, without its waits. Without the process lock.
  void end_call(std::uint64_t steps) {
    if ((steps_of_thread.add(steps) & steps::host_interval) != 0) [[unlikely]]
      end_host_interval();
  }

  /// The completion for a blocking call. A call that has to wait keeps this flag
  /// (take_spare_flag()), and the next call gets another one. The flags are on the heap, because a
  /// call that gives up waiting for a lost peer abandons its flag.
  Flag& spare_flag() { return *spare_flag_; }
  void take_spare_flag();
  void give_back(Flag& flag) { free_flags_.push_back(&flag); }

 private:
  void end_host_interval();

  std::atomic<Running*> running_{nullptr};  // owned; stored with release for threads that read it
  std::deque<Flag> flags_;
  std::vector<Flag*> free_flags_;
  Flag* spare_flag_ = nullptr;
};

}  // namespace oriel
