// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/steps.hpp"
#include "engine/engine.hpp"
#include "engine/process/handle_table.hpp"
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
  engine.end_call(steps::call);
  return MPI_SUCCESS;
}

/// A call on any window. A window that is not Oriel's is passed to the host.
template <typename Ours, typename Host>
inline int dispatch_call(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  return dispatch_found(
      call, handle, [](std::uint64_t key) { return runtime.windows.find(key); }, ours,
      [&] { return pass_to_host(call, handle, host); });
}

/// The hot path of a call, on any thread without the lock. Returns true if the call is done.
/// Returns false if nothing was done, and dispatch_general() must follow. `window`: null: it has no
/// hot path.
template <typename HotPath>
inline bool try_hot_path(const WindowHandle* window, HotPath&& hot_path) {
  if (window == nullptr || !hot_path(*window)) return false;
  engine.end_call(one_hot_call + steps::hot_call);
  return true;
}

/// dispatch_call() after a hot path has failed, in a function of its own. `ours` and `host` have
/// copies of the call's arguments, so that the hot path keeps these in registers and does no work
/// for a call that seldom follows.
template <typename Ours, typename Host>
[[gnu::noinline]] int dispatch_general(const char* call, MPI_Win handle, const Ours& ours,
                                       const Host& host) {
  return dispatch_call(call, handle, ours, host);
}

}  // namespace oriel::mpi
