// SPDX-License-Identifier: BSD-3-Clause
// The calls of oriel/oriel.h (E1): each is a blocking synchronization call's nonblocking form,
// which returns a request instead of waiting.
#include <oriel/profiling.h>

#include "mpi/epochs/sync.hpp"
#include "mpi/host/host.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

/// An opening call. Its request is complete at creation (E2).
template <typename Open>
int open_epoch(const char* call, MPI_Win handle, MPI_Request* request, Open&& open) {
  const int code = dispatch_epoch(
      call, handle,
      [&](WindowHandle& window) {
        const Failure bad = check_outputs(request);
        return bad ? bad : open(window);
      },
      [&] { return unsupported_window(call, handle, lacking::nonblocking_epochs); });
  return code == MPI_SUCCESS ? completed_request(request) : code;
}

/// A closing or flushing call: calls close(window, completion) unless check(window) fails.
template <typename Check, typename Close>
int post_call(const char* call, MPI_Win handle, MPI_Request* request, Check&& check,
              Close&& close) {
  return with_request(
      call, handle, request,
      [&](WindowHandle& window, Completion& completion, bool& posted) {
        if (const Failure bad = check(window)) return bad;
        engine.sweep_in_passing(Passing::polls);
        const Outcome outcome = close(window, &completion);
        posted = !outcome.done;
        if (posted && window.core->remote()) engine.agent.wake();
        return failure(outcome.error, window.core->reason());
      },
      [&] { return unsupported_window(call, handle, lacking::nonblocking_epochs); });
}

template <typename Close>
int close_epoch(const char* call, MPI_Win handle, MPI_Request* request, Close&& close) {
  return post_call(call, handle, request, check_epochs, close);
}

int flush(const char* call, int rank, bool local, MPI_Win win, MPI_Request* request) {
  const bool nobody = rank == MPI_PROC_NULL;
  return post_call(
      call, win, request,
      [&](const WindowHandle& window) { return nobody ? Failure() : check_flushed(window, rank); },
      [&](WindowHandle& window, Completion* completion) {
        return nobody
                   ? Outcome::finished()
                   : window.core->epochs().flush(rank, local, completion, flushed_threads(window));
      });
}

int flush_all(const char* call, bool local, MPI_Win win, MPI_Request* request) {
  return post_call(
      call, win, request, [](const WindowHandle&) { return Failure(); },
      [&](WindowHandle& window, Completion* completion) {
        return window.core->epochs().flush_all(local, completion, flushed_threads(window));
      });
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Assert;
using oriel::Completion;
using oriel::Outcome;

ORIEL_CALL(Get_version)(int* major, int* minor, int* patch) {
  *major = ORIEL_VERSION_MAJOR;
  *minor = ORIEL_VERSION_MINOR;
  *patch = ORIEL_VERSION_PATCH;
  return MPI_SUCCESS;
}

ORIEL_CALL(Win_ipost)(MPI_Group group, int assertion, MPI_Win win, MPI_Request* request) {
  return open_epoch("ORIEL_Win_ipost", win, request,
                    [&](WindowHandle& window) { return open_post(window, group, assertion); });
}

ORIEL_CALL(Win_istart)(MPI_Group group, int assertion, MPI_Win win, MPI_Request* request) {
  return open_epoch("ORIEL_Win_istart", win, request,
                    [&](WindowHandle& window) { return open_start(window, group, assertion); });
}

ORIEL_CALL(Win_ilock)(int lock_type, int rank, int assertion, MPI_Win win, MPI_Request* request) {
  return open_epoch("ORIEL_Win_ilock", win, request, [&](WindowHandle& window) {
    return open_lock(window, lock_type, rank, assertion);
  });
}

ORIEL_CALL(Win_ilock_all)(int assertion, MPI_Win win, MPI_Request* request) {
  return open_epoch("ORIEL_Win_ilock_all", win, request,
                    [&](WindowHandle& window) { return open_lock_all(window, assertion); });
}

ORIEL_CALL(Win_icomplete)(MPI_Win win, MPI_Request* request) {
  return close_epoch("ORIEL_Win_icomplete", win, request,
                     [](WindowHandle& window, Completion* completion) {
                       return window.core->epochs().complete(completion);
                     });
}

ORIEL_CALL(Win_iwait)(MPI_Win win, MPI_Request* request) {
  return close_epoch("ORIEL_Win_iwait", win, request,
                     [](WindowHandle& window, Completion* completion) {
                       return window.core->epochs().wait(completion);
                     });
}

ORIEL_CALL(Win_ifence)(int given, MPI_Win win, MPI_Request* request) {
  Assert assertion;
  const Failure bad = translate_assert(given, fence_asserts, assertion);
  if (bad) {
    return dispatch_call(
        "ORIEL_Win_ifence", win, [&](WindowHandle&) { return bad; },
        [&] { return unsupported_window("ORIEL_Win_ifence", win, lacking::nonblocking_epochs); });
  }
  return close_epoch("ORIEL_Win_ifence", win, request,
                     [&](WindowHandle& window, Completion* completion) {
                       return window.core->epochs().fence(assertion, false, completion);
                     });
}

ORIEL_CALL(Win_iunlock)(int rank, MPI_Win win, MPI_Request* request) {
  return close_epoch("ORIEL_Win_iunlock", win, request,
                     [&](WindowHandle& window, Completion* completion) {
                       if (rank == MPI_PROC_NULL) return Outcome::finished();
                       return window.core->unlock(rank, completion);
                     });
}

ORIEL_CALL(Win_iunlock_all)(MPI_Win win, MPI_Request* request) {
  return close_epoch("ORIEL_Win_iunlock_all", win, request,
                     [](WindowHandle& window, Completion* completion) {
                       return window.core->unlock_all(completion);
                     });
}

ORIEL_CALL(Win_iflush)(int rank, MPI_Win win, MPI_Request* request) {
  return flush("ORIEL_Win_iflush", rank, false, win, request);
}

ORIEL_CALL(Win_iflush_local)(int rank, MPI_Win win, MPI_Request* request) {
  return flush("ORIEL_Win_iflush_local", rank, true, win, request);
}

ORIEL_CALL(Win_iflush_all)(MPI_Win win, MPI_Request* request) {
  return flush_all("ORIEL_Win_iflush_all", false, win, request);
}

ORIEL_CALL(Win_iflush_local_all)(MPI_Win win, MPI_Request* request) {
  return flush_all("ORIEL_Win_iflush_local_all", true, win, request);
}
