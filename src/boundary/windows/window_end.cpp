// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/window_end.hpp"

#include <utility>

#include "boundary/host/host_mpi.hpp"
#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"

namespace oriel::boundary {

void destroy_window(WindowHandle* window, bool keep) {
  const MPI_Win handle = window->handle;
  const bool handled = window->user_state.handler;
  // Another thread may be freeing another handle: the last one that is through takes the window.
  std::shared_ptr<WindowState> state;
  {
    const Guard guard(runtime.lock);
    own_requests.persistent.cut_off(*window);  // those that delete callbacks have made
    runtime.windows.erase(handle_key(window->handle), window);
    Engine& engine = *runtime.engine();
    state = std::move(window->state);
    std::erase_if(engine.windows, [&](const auto& owned) { return owned.get() == window; });
    if (state.use_count() != 1) {
      state = nullptr;
    } else {
      engine.process.destroy_window(*state->core);
    }
  }
  if (state != nullptr) host_mpi().Group_free(&state->group);
  if (keep) runtime.host_windows.keep(handle, handled);
  lifetime.let_go();
}

}  // namespace oriel::boundary
