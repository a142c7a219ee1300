// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/windows/handle_lifetime.hpp"

#include <oriel/profiling.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"
#include "mpi/startup/lifetime.hpp"

namespace oriel::mpi {

std::unique_ptr<WindowHandle> copy_handle(const WindowHandle& parent) {
  auto made = std::make_unique<WindowHandle>(parent);
  made->user_state = {.errhandler = parent.user_state.errhandler};
  runtime.window_errhandlers.hold(made->user_state.errhandler);
  return made;
}

int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<WindowHandle> made,
             MPI_Win* win) {
  made->info.update(info);
  std::string error;
  lifetime.hold(error);  // cannot fail: the parent window holds the engine, too
  {
    const Guard guard(engine.lock);
    if (const std::optional<MPI_Win> taken = runtime.handle_values.allocate()) {
      made->handle = *win = *taken;
      const WindowHandle* const key = made.get();
      runtime.windows.insert(handle_key(made->handle), made.get());
      runtime.owned_handles.emplace(key, std::move(made));
      return MPI_SUCCESS;
    }
    --count_of(*made);
  }
  runtime.window_errhandlers.release(made->user_state.errhandler);
  lifetime.let_go();
  return raise(parent, call, {MPI_ERR_OTHER, HandleValues::all_in_use});
}

void destroy_window(WindowHandle* window) {
  runtime.window_errhandlers.release(window->user_state.errhandler);
  // Another thread may be freeing another handle: the last thread here destroys the window.
  std::shared_ptr<WindowState> state;
  {
    const Guard guard(engine.lock);
    own_requests.cut_off(*window);  // requests that delete callbacks have made
    runtime.windows.erase(handle_key(window->handle), window);
    runtime.handle_values.release(window->handle);
    Running& running = *engine.running();
    const void* const memory = window->base;
    // Memory of MPI_Win_create belongs to the program and is not freed here.
    const bool created = window->flavor == MPI_WIN_FLAVOR_CREATE;
    const auto bytes = created ? 0 : static_cast<std::uint64_t>(window->size);
    state = std::move(window->state);
    runtime.owned_handles.erase(window);
    if (state.use_count() != 1) {
      state = nullptr;
    } else {
      running.process.forget_detached(memory, bytes);
      running.process.destroy_window(*state->core);
    }
  }
  if (state != nullptr) host_mpi().Group_free(&state->group);
  lifetime.let_go();
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

// Duplicates (Q4): another handle of the same window.
ORIEL_CALL(Win_dup_with_info)(MPI_Win parent, MPI_Info info, MPI_Win* win) {
  constexpr const char* call = "ORIEL_Win_dup_with_info";
  std::unique_ptr<WindowHandle> made;
  const int code = dispatch_call(
      call, parent,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(win)) return bad;
        made = copy_handle(window);
        ++count_of(window);
        return Failure();
      },
      [&] { return unsupported_window(call, parent, lacking::duplicates); });
  return code == MPI_SUCCESS ? hand_out(call, parent, info, std::move(made), win) : code;
}
