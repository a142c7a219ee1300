// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/thread_lines.hpp"
#include "core/process.hpp"
#include "engine/process/line_keeper.hpp"
#include "engine/process/process_lock.hpp"
#include "engine/process/tick_clock.hpp"
#include "engine/progress/agent.hpp"
#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/call_counts.hpp"

namespace oriel {

/// What all windows of a process share, from the first window until MPI ends.
struct Running {
  explicit Running(std::unique_ptr<ShmTransport> node);

  CompositeTransport transports;
  Process process;
  CallCounts& calls;
  std::uint32_t next_window = 1;  // number of the next window
  unsigned operations = 0;        // see calls_per_look
  std::uint32_t last_number = 0;  // Operation::number
  long spins;
  long yields;
  bool node_sends = false;  // ranks of this node send messages to this rank in some window
  bool launched_crowded;    // the launcher started more ranks on this node than it has processors

  /// True if the node has more ranks than processors: a wait must give the processor away.
  bool crowded() { return launched_crowded || transports.shm().crowded(); }
  /// True if everything that this process has sent has left it.
  bool drained() {
    return !transports.shm().backlogged() &&
           (transports.network() == nullptr || transports.network()->drained());
  }
};

/// This library in one process, MPI aside.
class Engine {
 public:
  ProcessLock lock;
  ProcessLock request_lock;  // of pending requests; below all other locks
  Arena arena;
  LineKeeper line_keeper;
  TickClock clock;  // with the process lock
  Agent agent;

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Null from the end of MPI, or of its last session, until the next window is made.
  Running* running() const { return running_.load(std::memory_order_acquire); }
  /// Starts the engine. `rank`: this process's in MPI_COMM_WORLD; -1: there is no such
  /// communicator. Returns false, and `error` is a sentence, if that fails.
  bool start(int rank, std::string& error);
  /// Ends the engine's work. The caller destroys what is returned; null: it was not running.
  std::unique_ptr<Running> stop();
  /// In the child of a fork: the parent keeps the engine.
  void disown();

  /// Serializes threads from now on.
  void serialize_threads();

  /// True if anything is pending that sweeps have to finish.
  bool busy() const {
    const Running* now = running();
    return now != nullptr && now->process.busy();
  }

  /// The completion for a blocking call. A call that has to wait takes it, and the next call gets
  /// another one. The flags are on the heap, because a call that stops waiting for a lost peer
  /// leaves its flag behind.
  Flag& spare_flag() { return *spare_flag_; }
  void take_spare_flag();
  void give_back(Flag& flag) { free_flags_.push_back(&flag); }

 private:
  std::atomic<Running*> running_{nullptr};  // owned; stored with release for threads that read it
  std::deque<Flag> flags_;
  std::vector<Flag*> free_flags_;
  Flag* spare_flag_ = nullptr;
};

extern Engine engine;

/// The line of this thread; null: the process has a single thread, or the thread has no line.
inline ThreadLine* own_line() {
  return engine.lock.enabled() ? engine.line_keeper.own() : nullptr;
}
/// The calling thread, whose line this is, as flushes of thread scope name it.
inline ThreadSet thread_of(const ThreadLine* line) {
  if (line != nullptr) return ThreadSet{1} << line->number;
  return engine.lock.enabled() ? further_threads : all_threads;
}

}  // namespace oriel
