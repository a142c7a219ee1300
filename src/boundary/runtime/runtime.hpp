// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "boundary/datatypes/datatypes.hpp"
#include "boundary/datatypes/own_ops.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "boundary/host/self_comm.hpp"
#include "boundary/runtime/handle_values.hpp"
#include "boundary/runtime/keyvals.hpp"
#include "boundary/runtime/line_keeper.hpp"
#include "boundary/runtime/window_errhandlers.hpp"
#include "boundary/runtime/window_errors.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "core/process.hpp"
#include "engine/process/handle_table.hpp"
#include "engine/process/process_lock.hpp"
#include "engine/process/tick_clock.hpp"
#include "transport/composite_transport.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/call_counts.hpp"

namespace oriel::boundary {

/// What all windows of a process share. See Lifetime for how long it exists.
struct Engine {
  explicit Engine(std::unique_ptr<ShmTransport> node);

  CompositeTransport transports;
  Process process;
  CallCounts& calls;
  std::unordered_map<const WindowHandle*, std::unique_ptr<WindowHandle>> windows;
  std::uint32_t next_window = 1;  // number of the next window
  unsigned operations = 0;        // see calls_per_look
  std::uint32_t last_number = 0;  // Operation::number
  long spins;
  long yields;
  bool node_sends = false;  // some window's ranks on this node send us messages
  bool launched_crowded;    // the launcher started more ranks on this node than it has processors
  bool launched_alone;      // the only one of its launcher on this node

  /// More ranks than processors: waiting must give the processor away.
  bool crowded() { return launched_crowded || transports.shm().crowded(); }
  /// All that was sent has left this process.
  bool drained() {
    return !transports.shm().backlogged() &&
           (transports.network() == nullptr || transports.network()->drained());
  }
};

/// This library in one MPI process.
class Runtime {
 public:
  ProcessLock lock;
  ProcessLock request_lock;  // of PendingRequests; below all others
  SelfComm self;
  HandleValues handle_values;
  HandleTable<WindowHandle> windows;
  Keyvals keyvals;
  WindowErrhandlers window_errhandlers;
  Datatypes datatypes;
  OwnOps own_ops;
  Arena arena;
  LineKeeper line_keeper;
  TickClock clock;  // with the process lock

  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Null while nobody holds it: see Lifetime.
  Engine* engine() const { return engine_.load(std::memory_order_acquire); }
  /// Makes the engine. False, and `error` is a sentence, if that fails.
  bool start(std::string& error);
  /// Ends what the engine does; the engine itself, if there is one, is the caller's to destroy.
  std::unique_ptr<Engine> stop();
  /// In the child of a fork: leaves the engine to the parent.
  void disown() {
    engine_.store(nullptr, std::memory_order_relaxed);
    line_keeper.disown();
  }

  /// Serializes threads from now on if the program was granted several at a time.
  void note_thread_level();
  void serialize_threads();

  /// ORIEL_DISABLE: everything is left to the host.
  bool disabled();
  /// Something of ours needs sweeps to go on.
  bool busy() const {
    const Engine* now = engine();
    return now != nullptr && now->process.busy();
  }

  /// The completion for a blocking call: to be tried with, and taken when the call has to wait. On
  /// the heap, because a call that gives up waiting for a dead peer leaves it behind.
  Flag& spare_flag() { return *spare_flag_; }
  void take_spare_flag();
  void give_back(Flag& flag) { free_flags_.push_back(&flag); }

 private:
  std::atomic<Engine*> engine_{nullptr};  // owned; stored with release, for threads that look on
  std::deque<Flag> flags_;
  std::vector<Flag*> free_flags_;
  Flag* spare_flag_ = nullptr;
};

extern Runtime runtime;

/// The line of this thread, where there may be others; null: it needs none, or has none.
inline ThreadLine* own_line() {
  return runtime.lock.enabled() ? runtime.line_keeper.own() : nullptr;
}
/// The calling thread, which has this line, for what flushes of thread scope wait for.
inline ThreadSet thread_of(const ThreadLine* line) {
  if (line != nullptr) return ThreadSet{1} << line->number;
  return runtime.lock.enabled() ? further_threads : all_threads;
}

/// Calls by which a program waits in a loop of its own carry on what is pending (E10), and look for
/// what others have sent.
inline void sweep_pending() {
  if (runtime.busy()) [[unlikely]]
    runtime.engine()->process.sweep_in_passing();
}

/// A call that is shorter than a look at the network looks at every 16th call only.
inline constexpr unsigned calls_per_look = 16;

/// All other calls carry on what is pending as well, but look for what others have sent now and
/// then only.
inline void carry_on() {
  if (!runtime.busy()) [[likely]]
    return;
  Engine& engine = *runtime.engine();
  if (engine.process.expects() || engine.transports.network() == nullptr ||
      ++engine.operations % calls_per_look == 0) {
    engine.process.sweep_in_passing();
  }
}

/// Direct transfers go on while the program computes, if somebody looks after them.
inline bool transfers_under_way() {
  Network* network = runtime.engine()->transports.network();
  return network != nullptr && network->transferring();
}

/// The same of calls that come in long rows: what is pending goes on now and then only, too.
inline void sweep_now_and_then() {
  if (!runtime.busy()) [[likely]]
    return;
  Engine& engine = *runtime.engine();
  if (engine.transports.network() == nullptr || ++engine.operations % calls_per_look == 0) {
    engine.process.sweep_in_passing();
  }
}

/// The long half of sweep_unlocked().
void sweep_beside_others();
/// Likewise of calls without the lock: several threads make them at the same time, so each looks
/// now and then, and leaves it to whoever holds the lock.
inline void sweep_unlocked() {
  if (runtime.busy()) [[unlikely]]
    sweep_beside_others();
}

/// Calls of this thread on windows, in steps of the shortest ones; and from `one_hot_call` on, the
/// number of those on hot paths: one addition counts both.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint64_t steps_of_calls = 0;
constexpr std::uint64_t one_hot_call = std::uint64_t{1} << 32;
constexpr std::uint64_t steps_per_host_turn = 8192;  // some 50 us: a look at the host takes 1
constexpr std::uint64_t steps_of_fast_path = one_hot_call + 1;
constexpr std::uint64_t steps_of_general_path = 16;

/// Adds the thread's calls on hot paths to those that peers see, and advances the host's traffic.
void take_host_turn();

/// Calls that wait for nobody advance the host's traffic as well, now and then (E10): a peer's long
/// message goes on while this rank does nothing but put. Without the lock.
inline void advance_host_in_passing(std::uint64_t steps) {
  const std::uint64_t before = steps_of_calls;
  steps_of_calls = before + steps;
  if (((before ^ steps_of_calls) & steps_per_host_turn) != 0) [[unlikely]]
    take_host_turn();
}

/// Whether a window of ours has this handle. Takes the process lock.
inline bool names_window(MPI_Win handle) {
  const Guard guard(runtime.lock);
  return runtime.windows.find(handle_key(handle)) != nullptr;
}

/// A handle that is the host's, or one of ours that the program has freed.
template <typename Host>
int pass_to_host(const char* call, MPI_Win handle, Host&& host) {
  if (!HandleValues::contains(handle)) return host();
  return raise(MPI_COMM_NULL, call, MPI_ERR_WIN, "the window has been freed");
}

/// The shape of every call on a window: one that find() does not know, to others(); ours, to the
/// core; an error, to the window's error handler once the lock is released.
template <typename Find, typename Ours, typename Others>
[[gnu::always_inline]] inline int dispatch_found(const char* call, MPI_Win handle, Find&& find,
                                                 Ours&& ours, Others&& others) {
  Failure failure;
  WindowHandle* window;
  {
    const Guard guard(runtime.lock);
    window = find(handle_key(handle));
    if (window != nullptr) [[likely]] {
      runtime.engine()->calls.count();
      failure = ours(*window);
    }
  }
  if (window == nullptr) [[unlikely]]
    return others();
  if (failure) [[unlikely]]
    return raise(handle, call, failure);
  advance_host_in_passing(steps_of_general_path);
  return MPI_SUCCESS;
}

/// A call on any window: one that is not ours goes to the host.
template <typename Ours, typename Host>
inline int dispatch_call(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  return dispatch_found(
      call, handle, [](std::uint64_t key) { return runtime.windows.find(key); }, ours,
      [&] { return pass_to_host(call, handle, host); });
}

/// The fast path of a call, which any thread takes without the lock. True: it has done everything;
/// false: nothing, and dispatch_general() has to. `window`: null where it has none.
template <typename AtOnce>
inline bool try_fast_path(const WindowHandle* window, AtOnce&& at_once) {
  if (window == nullptr || !at_once(*window)) return false;
  advance_host_in_passing(steps_of_fast_path);
  return true;
}

/// dispatch_call() behind a fast path, in a function of its own. `ours` and `host` have copies of
/// the call's arguments: the fast path then keeps these in registers, and does nothing for a call
/// that seldom follows.
template <typename Ours, typename Host>
[[gnu::noinline]] int dispatch_general(const char* call, MPI_Win handle, const Ours& ours,
                                       const Host& host) {
  return dispatch_call(call, handle, ours, host);
}

}  // namespace oriel::boundary
