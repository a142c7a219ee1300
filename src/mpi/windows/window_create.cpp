// SPDX-License-Identifier: BSD-3-Clause
// Making and freeing windows and window memory (G2).
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/windows/leave_window.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/windows/attributes.hpp"
#include "mpi/windows/handle_lifetime.hpp"
#include "mpi/windows/window_maker.hpp"

namespace oriel::mpi {
namespace {

/// True if the other ranks must take part in freeing the handle: it is the last one of a window
/// that this process has not left yet.
bool frees_window(const WindowHandle& window) {
  return !window.view.has_value() && window.state->handles == 1 && !window.state->left;
}

Failure check_unused(const WindowHandle& window) {
  if (!frees_window(window)) return {};
  if (window.state->views != 0) {
    return {MPI_ERR_OTHER,
            "windows made from memory handles of this one are left; free them first"};
  }
  if (window.core->epochs().open_epoch()) {
    return {MPI_ERR_RMA_SYNC, "an epoch is open; close it before the window is freed"};
  }
  return {};
}

/// Stops counting the handle. With the last handle, this process leaves the window, which is
/// collective; freeing an earlier one is local.
Failure uncount(WindowHandle& window, EngineFailure& failed) {
  // Delete callbacks have run since the last check.
  if (const Failure bad = check_unused(window)) return bad;
  if (frees_window(window)) {
    if (const Failure bad = leave_window(engine, *window.core, failed)) return bad;
    window.state->left = true;
  }
  --count_of(window);
  own_requests.cut_off(window);
  return {};
}

/// Destroys a handle that is not counted any more. If another thread has set an attribute meanwhile
/// and its delete callback fails, the handle stays, although the other ranks have freed the window;
/// the next MPI_Win_free of this handle is local.
int end_handle(WindowHandle* window, MPI_Win* handle) {
  if (const int code = delete_attributes(*handle); code != MPI_SUCCESS) {
    const Guard guard(engine.lock);
    ++count_of(*window);
    return code;
  }
  destroy_window(window);
  *handle = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

Failure not_dynamic() {
  return {MPI_ERR_RMA_FLAVOR,
          "the window has the memory that it was made with; only one from MPI_Win_create_dynamic "
          "takes and gives up more"};
}

Failure attach(const WindowHandle& window, const void* base, MPI_Aint size) {
  if (!window.core->dynamic() || window.view.has_value()) return not_dynamic();
  if (const Failure bad = check_memory(base, size)) return bad;
  engine.sweep_in_passing(Passing::issues);
  NodeServices& node = engine.running()->transports.node();
  return failure_of(window,
                    window.core->attach(node.locate(base, static_cast<std::uint64_t>(size))));
}

Failure detach(const WindowHandle& window, const void* base) {
  if (!window.core->dynamic() || window.view.has_value()) return not_dynamic();
  engine.sweep_in_passing(Passing::issues);
  return failure_of(window, window.core->detach(reinterpret_cast<std::uintptr_t>(base)));
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;
using oriel::WindowFlavor;

#define ORIEL_WINDOW_CALLS(Unit, suffix)                                                         \
  ORIEL_MPI_CALL(Win_create##suffix)                                                             \
  (void* base, MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {      \
    if (runtime.disabled())                                                                      \
      return host_mpi().Win_create##suffix(base, size, disp_unit, info, comm, win);              \
    return WindowMaker("MPI_Win_create" #suffix, comm, info).create(base, size, disp_unit, win); \
  }                                                                                              \
  ORIEL_MPI_CALL(Win_allocate##suffix)                                                           \
  (MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {      \
    if (runtime.disabled())                                                                      \
      return host_mpi().Win_allocate##suffix(size, disp_unit, info, comm, base, win);            \
    return WindowMaker("MPI_Win_allocate" #suffix, comm, info)                                   \
        .allocate(WindowFlavor::allocated, size, disp_unit, base, win);                          \
  }                                                                                              \
  ORIEL_MPI_CALL(Win_allocate_shared##suffix)                                                    \
  (MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {      \
    if (runtime.disabled())                                                                      \
      return host_mpi().Win_allocate_shared##suffix(size, disp_unit, info, comm, base, win);     \
    return WindowMaker("MPI_Win_allocate_shared" #suffix, comm, info)                            \
        .allocate(WindowFlavor::shared, size, disp_unit, base, win);                             \
  }

ORIEL_WINDOW_CALLS(int, )
#if ORIEL_HOST_LARGE_COUNTS
ORIEL_WINDOW_CALLS(MPI_Aint, _c)
#endif

ORIEL_MPI_CALL(Win_free)(MPI_Win* win) {
  constexpr const char* call = "MPI_Win_free";
  if (const Failure bad = check_outputs(win)) {
    return raise(MPI_COMM_NULL, call, bad.error_class, bad.reason);
  }
  WindowHandle* ours = nullptr;
  int code = dispatch_call(
      call, *win,
      [&](WindowHandle& window) {
        ours = &window;
        return check_unused(window);
      },
      [] { return MPI_SUCCESS; });
  if (code != MPI_SUCCESS) return code;
  if (ours == nullptr) return host_mpi().Win_free(win);
  // Delete callbacks may still use the window. They run before other ranks are notified of the
  // call: if one fails, the window is unchanged.
  code = delete_attributes(*win);
  if (code != MPI_SUCCESS) return code;
  oriel::EngineFailure failed;
  code = dispatch_call(
      call, *win, [&](WindowHandle& window) { return uncount(window, failed); },
      [&] { return host_mpi().Win_free(win); });
  if (code != MPI_SUCCESS) return code;
  const int raised = failed ? raise(*win, call, failed) : MPI_SUCCESS;
  const int freed = end_handle(ours, win);
  return raised != MPI_SUCCESS ? raised : freed;
}

ORIEL_MPI_CALL(Win_create_dynamic)(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (runtime.disabled()) return host_mpi().Win_create_dynamic(info, comm, win);
  return WindowMaker("MPI_Win_create_dynamic", comm, info).create_dynamic(win);
}

ORIEL_MPI_CALL(Win_attach)(MPI_Win win, void* base, MPI_Aint size) {
  return dispatch_call(
      "MPI_Win_attach", win, [&](WindowHandle& window) { return attach(window, base, size); },
      [&] { return host_mpi().Win_attach(win, base, size); });
}

ORIEL_MPI_CALL(Win_detach)(MPI_Win win, const void* base) {
  return dispatch_call(
      "MPI_Win_detach", win, [&](WindowHandle& window) { return detach(window, base); },
      [&] { return host_mpi().Win_detach(win, base); });
}

ORIEL_MPI_CALL(Alloc_mem)(MPI_Aint size, MPI_Info info, void* base) {
  if (runtime.disabled() || size <= 0 || base == nullptr)
    return host_mpi().Alloc_mem(size, info, base);
  WindowInfo keys;
  keys.read(info);
  std::string error;
  void* memory;
  {
    const Guard guard(engine.lock);
    memory = engine.arena.allocate_for_program(static_cast<std::uint64_t>(size), keys.alignment(),
                                               error);
  }
  // If the system has no shared memory left, the host may still have some of its own.
  if (memory == nullptr) return host_mpi().Alloc_mem(size, info, base);
  std::memcpy(base, &memory, sizeof memory);
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(Free_mem)(void* base) {
  {
    const Guard guard(engine.lock);
    if (oriel::Running* running = engine.running(); base != nullptr && running != nullptr) {
      running->process.forget_detached(base, engine.arena.bytes_at(base));
    }
    if (base != nullptr && engine.arena.free(base)) return MPI_SUCCESS;
  }
  return host_mpi().Free_mem(base);
}
