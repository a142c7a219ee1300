// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/windows/window_end.hpp"

#include <utility>

#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/startup/lifetime.hpp"

namespace oriel::mpi {

void destroy_window(WindowHandle* window) {
  runtime.window_errhandlers.release(window->user_state.errhandler);
  // Another thread may be freeing another handle: the last thread here destroys the window.
  std::shared_ptr<WindowState> state;
  {
    const Guard guard(engine.lock);
    own_requests.persistent.cut_off(*window);  // requests that delete callbacks have made
    runtime.windows.erase(handle_key(window->handle), window);
    runtime.handle_values.give_back(window->handle);
    Running& running = *engine.running();
    state = std::move(window->state);
    runtime.owned_handles.erase(window);
    if (state.use_count() != 1) {
      state = nullptr;
    } else {
      running.process.destroy_window(*state->core);
    }
  }
  if (state != nullptr) host_mpi().Group_free(&state->group);
  lifetime.let_go();
}

}  // namespace oriel::mpi
