// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/engine.hpp"
#include "engine/process/handle_table.hpp"
#include "engine/progress/passing_sweeps.hpp"
#include "mpi/datatypes/datatypes.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/self_comm.hpp"
#include "mpi/runtime/handle_values.hpp"
#include "mpi/runtime/keyvals.hpp"
#include "mpi/runtime/window_errors.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// The library in this process, MPI aside.
extern Engine engine;

/// The MPI part of the library in one process; the other part is `engine`.
class Runtime {
 public:
  SelfComm self;
  HandleValues handle_values;
  HandleTable<WindowHandle> windows;
  /// Owns the handles of the table. With the process lock.
  std::unordered_map<const WindowHandle*, std::unique_ptr<WindowHandle>> owned_handles;
  Keyvals keyvals;
  WindowErrhandlers window_errhandlers;
  Datatypes datatypes;

  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Starts the engine. On failure returns false and sets `error` to a sentence.
  bool start(Host& host, std::string& error);
  /// Stops the engine. The caller destroys the result.
  std::unique_ptr<Running> stop();

  /// Makes the locks serialize threads from now on, if MPI_THREAD_MULTIPLE was granted.
  void note_thread_level();

  /// ORIEL_DISABLE: the host carries out all calls.
  bool disabled();
};

extern Runtime runtime;

/// Counts the calls of this thread on windows: the low half, in units of the shortest call's time;
/// from bit 32 (`one_hot_call`) on, the number of calls on hot paths. One addition counts both.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint64_t steps_of_calls = 0;
constexpr std::uint64_t one_hot_call = std::uint64_t{1} << 32;
constexpr std::uint64_t steps_per_host_turn = 8192;  // some 50 us: a poll of the host takes 1
constexpr std::uint64_t steps_of_fast_path = one_hot_call + 1;
constexpr std::uint64_t steps_of_general_path = 16;

/// Adds the thread's hot calls to the counts that peers see, and advances the host's messages.
void take_host_turn();

/// Calls that do not wait also advance the host's messages, now and then (E10): a peer's long
/// message advances while this rank only puts. Without the lock.
inline void advance_host_in_passing(std::uint64_t steps) {
  const std::uint64_t before = steps_of_calls;
  steps_of_calls = before + steps;
  if (((before ^ steps_of_calls) & steps_per_host_turn) != 0) [[unlikely]]
    take_host_turn();
}

/// True if a window of Oriel's has this handle. Takes the process lock.
inline bool names_window(MPI_Win handle) {
  const Guard guard(engine.lock);
  return runtime.windows.find(handle_key(handle)) != nullptr;
}

/// For a handle that is not in the table: it is the host's, or Oriel's and freed.
template <typename Host>
int pass_to_host(const char* call, MPI_Win handle, Host&& host) {
  if (!HandleValues::contains(handle)) return host();
  return raise(MPI_COMM_NULL, call, MPI_ERR_WIN, "the window has been freed");
}

/// A call on a window: others() if find() does not find the window; otherwise ours(window). A
/// failure is raised by the window's error handler after the lock is released.
template <typename Find, typename Ours, typename Others>
[[gnu::always_inline]] inline int dispatch_found(const char* call, MPI_Win handle, Find&& find,
                                                 Ours&& ours, Others&& others) {
  Failure failure;
  WindowHandle* window;
  {
    const Guard guard(engine.lock);
    window = find(handle_key(handle));
    if (window != nullptr) [[likely]] {
      engine.running()->calls.count();
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

/// A call on any window. A window that is not Oriel's is passed to the host.
template <typename Ours, typename Host>
inline int dispatch_call(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  return dispatch_found(
      call, handle, [](std::uint64_t key) { return runtime.windows.find(key); }, ours,
      [&] { return pass_to_host(call, handle, host); });
}

/// The fast path of a call, on any thread without the lock. Returns true if the call is done.
/// Returns false if nothing was done, and dispatch_general() must follow. `window`: null: it has no
/// fast path.
template <typename AtOnce>
inline bool try_fast_path(const WindowHandle* window, AtOnce&& at_once) {
  if (window == nullptr || !at_once(*window)) return false;
  advance_host_in_passing(steps_of_fast_path);
  return true;
}

/// dispatch_call() after a fast path has failed, in a function of its own. `ours` and `host` have
/// copies of the call's arguments, so that the fast path keeps these in registers and does no work
/// for a call that seldom follows.
template <typename Ours, typename Host>
[[gnu::noinline]] int dispatch_general(const char* call, MPI_Win handle, const Ours& ours,
                                       const Host& host) {
  return dispatch_call(call, handle, ours, host);
}

}  // namespace oriel::mpi
