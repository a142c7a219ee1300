// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of windows (G7).
#include <utility>

#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

using namespace oriel::mpi;

ORIEL_MPI_CALL(Win_create_errhandler)
(MPI_Win_errhandler_function* function, MPI_Errhandler* handler) {
  const int code = host_mpi().Win_create_errhandler(function, handler);
  if (code == MPI_SUCCESS) runtime.window_errhandlers.record(*handler, {function});
  return code;
}

ORIEL_MPI_CALL(Win_set_errhandler)(MPI_Win win, MPI_Errhandler handler) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  const int code = dispatch_call(
      "MPI_Win_set_errhandler", win,
      [&](WindowHandle& window) {
        if (!runtime.window_errhandlers.valid(handler)) {
          return Failure{MPI_ERR_ARG, "the error handler is not one of windows"};
        }
        runtime.window_errhandlers.hold(handler);
        before = std::exchange(window.user_state.errhandler, handler);
        return Failure();
      },
      [&] { return host_mpi().Win_set_errhandler(win, handler); });
  runtime.window_errhandlers.release(before);
  return code;
}

ORIEL_MPI_CALL(Win_get_errhandler)(MPI_Win win, MPI_Errhandler* handler) {
  return dispatch_call(
      "MPI_Win_get_errhandler", win,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(handler)) return bad;
        const MPI_Errhandler set = window.user_state.errhandler;
        *handler = set != MPI_ERRHANDLER_NULL ? set : MPI_ERRORS_ARE_FATAL;
        runtime.window_errhandlers.hold(*handler);
        return Failure();
      },
      [&] { return host_mpi().Win_get_errhandler(win, handler); });
}

ORIEL_MPI_CALL(Win_call_errhandler)(MPI_Win win, int code) {
  if (call_window_errhandler(win, code)) return MPI_SUCCESS;
  return pass_to_host("MPI_Win_call_errhandler", win,
                      [&] { return host_mpi().Win_call_errhandler(win, code); });
}

ORIEL_MPI_CALL(Errhandler_free)(MPI_Errhandler* handler) {
  return runtime.window_errhandlers.free(handler);
}
