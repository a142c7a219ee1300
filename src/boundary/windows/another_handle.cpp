// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/another_handle.hpp"

#include <oriel/profiling.h>

#include <string>
#include <utility>

#include "boundary/runtime/runtime.hpp"
#include "boundary/runtime/unsupported_window.hpp"
#include "boundary/startup/lifetime.hpp"

namespace oriel::boundary {
namespace {

/// With the parent's error handler, if it has been given one.
bool make_handle(MPI_Win parent, WindowHandle& made) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  made.user_state = {.handler = made.user_state.handler &&
                                PMPI_Win_get_errhandler(parent, &handler) == MPI_SUCCESS};
  const bool success = runtime.host_windows.make(runtime.self, handler, &made.handle);
  if (made.user_state.handler) PMPI_Errhandler_free(&handler);
  return success;
}

}  // namespace

int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<WindowHandle> made,
             MPI_Win* win) {
  made->info.update(info);
  std::string error;
  const bool held = lifetime.hold(error);  // the parent does, too: nothing is made
  if (!held || !make_handle(parent, *made)) {
    {
      const Guard guard(runtime.lock);
      --count_of(*made);
      made = nullptr;
    }
    if (held) lifetime.let_go();
    return raise(parent, call,
                 {MPI_ERR_OTHER, "the host MPI cannot make the window that lends its handle"});
  }
  const Guard guard(runtime.lock);
  runtime.windows.insert(handle_key(made->handle), made.get());
  *win = made->handle;
  runtime.engine()->windows.push_back(std::move(made));
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

// Duplicates (Q4): another handle of the same window.
ORIEL_CALL(Win_dup_with_info)(MPI_Win parent, MPI_Info info, MPI_Win* win) {
  constexpr const char* call = "ORIEL_Win_dup_with_info";
  std::unique_ptr<WindowHandle> made;
  const int code = dispatch_call(
      call, parent,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(win)) return bad;
        made = std::make_unique<WindowHandle>(window);
        ++count_of(window);
        return Failure();
      },
      [&] { return unsupported_window(call, parent, lacking::duplicates); });
  return code == MPI_SUCCESS ? hand_out(call, parent, info, std::move(made), win) : code;
}
