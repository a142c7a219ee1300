// SPDX-License-Identifier: BSD-3-Clause
// The synchronization calls of MPI-4.1 section 12.5 (G5), and the calls of oriel/oriel.h (E1): each
// of these is a blocking call's nonblocking form, which returns a request instead of waiting.
#include <oriel/oriel.h>
#include <oriel/profiling.h>

#include <vector>

#include "engine/progress/waiting.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {
namespace {

/// A window made from a memory handle shares its parent's epochs; it may only flush them.
Failure check_epochs(const WindowHandle& window) {
  if (!window.view.has_value()) [[likely]]
    return {};
  return {MPI_ERR_RMA_SYNC,
          "a window made from a memory handle is locked and unlocked through its parent"};
}

/// Fails if a flush may not name the rank because of how the window was made.
Failure check_flushed(const WindowHandle& window, int rank) {
  if (!window.view.has_value() || may_flush(window, rank)) [[likely]]
    return {};
  return {MPI_ERR_RANK, "a window made from a memory handle has the handle's owner as its target"};
}

/// The threads whose operations a flush of the handle waits for (Q1).
ThreadSet flushed_threads(const WindowHandle& window) {
  return window.info.thread_scope.load() ? engine.this_thread() : all_threads;
}

/// A call that opens or closes an epoch.
template <typename Ours, typename Host>
int dispatch_epoch(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  return dispatch_call(
      call, handle,
      [&](WindowHandle& window) {
        const Failure bad = check_epochs(window);
        return bad ? bad : ours(window);
      },
      host);
}

constexpr int lock_asserts = MPI_MODE_NOCHECK | ORIEL_MODE_WEAK_UNLOCK;
constexpr int fence_asserts =
    MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

constexpr int post_asserts = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

/// Translates the assertion. Fails if it has bits that are not `allowed`.
Failure translate_assert(int given, int allowed, Assert& assertion) {
  if ((given & ~allowed) != 0) return {MPI_ERR_ASSERT, "the assertion is not one for this call"};
  assertion.no_check = (given & MPI_MODE_NOCHECK) != 0;
  // NOSTORE and NOPUT permit no optimization here.
  assertion.no_precede = (given & MPI_MODE_NOPRECEDE) != 0;
  assertion.no_succeed = (given & MPI_MODE_NOSUCCEED) != 0;
  return {};
}

/// The two forms of a call: the program waits for a blocking call, and not for a nonblocking one.
enum class Form : bool { blocking, nonblocking };

Failure translate_lock_assert(const WindowHandle& window, int given, Form form, Assert& assertion) {
  if (const Failure bad = translate_assert(given, lock_asserts, assertion)) return bad;
  assertion.nonblocking = form == Form::nonblocking;
  assertion.weak_unlock = window.info.weak_unlock || (given & ORIEL_MODE_WEAK_UNLOCK) != 0;
  return {};
}

// The nonblocking part of opening (E2). With ORIEL_AWAIT_ACCESS=opening the blocking calls wait in
// await_access().

Failure open_post(WindowHandle& window, MPI_Group group, int given) {
  Assert assertion;
  if (const Failure bad = translate_assert(given, post_asserts, assertion)) return bad;
  if (const Failure bad = window.origins.find(group, window.state->group)) return bad;
  engine.sweep_in_passing(Passing::synchronizes);
  return failure_of(window, window.core->epochs().post(window.origins.ranks(), assertion));
}

Failure open_start(WindowHandle& window, MPI_Group group, int given) {
  Assert assertion;
  if (const Failure bad = translate_assert(given, MPI_MODE_NOCHECK, assertion)) return bad;
  if (const Failure bad = window.targets.find(group, window.state->group)) return bad;
  engine.sweep_in_passing(Passing::synchronizes);
  return failure_of(window, window.core->epochs().start(window.targets.ranks(), assertion));
}

Failure open_lock(WindowHandle& window, int lock_type, int rank, int given, Form form) {
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED) {
    return {MPI_ERR_LOCKTYPE, "the lock type is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED"};
  }
  Assert assertion;
  if (const Failure bad = translate_lock_assert(window, given, form, assertion)) return bad;
  if (rank == MPI_PROC_NULL) return {};
  engine.sweep_in_passing(Passing::synchronizes);
  const bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
  if (window.core->try_lock(exclusive, rank, assertion)) return {};
  return failure_of(
      window, window.core->epochs().open_lock(exclusive, rank, assertion, engine.this_thread()));
}

Failure open_lock_all(WindowHandle& window, int given, Form form) {
  Assert assertion;
  if (const Failure bad = translate_lock_assert(window, given, form, assertion)) return bad;
  engine.sweep_in_passing(Passing::synchronizes);
  if (window.core->try_lock_all(assertion)) return {};
  return failure_of(window, window.core->epochs().open_lock_all(assertion, engine.this_thread()));
}

/// True if blocking calls that open an epoch wait until its mapped targets are available
/// (ORIEL_AWAIT_ACCESS).
bool awaits_access(const WindowHandle& window) {
  return window.info.access_awaited == AccessAwaited::at_opening;
}

/// Waits until operations of the open epoch to the rank can be carried out at their call, if the
/// rank is mapped.
Failure await_access(WindowHandle& window, WaitReason reason, int rank) {
  Epochs& epochs = window.core->epochs();
  if (!epochs.mapped(rank)) return {};
  // Another thread may close the epoch meanwhile.
  return wait_until(engine, *window.core, {reason, rank},
                    [&] { return epochs.try_acquire(rank) || !epochs.accesses(rank); });
}

Failure await_access_to_all(WindowHandle& window, WaitReason reason) {
  for (int rank = 0; rank < window.core->ranks(); ++rank) {
    if (const Failure bad = await_access(window, reason, rank)) return bad;
  }
  return {};
}

Failure flush_waiting(WindowHandle& window, int rank, bool local) {
  if (rank == MPI_PROC_NULL) return {};
  if (const Failure bad = check_flushed(window, rank)) return bad;
  const ThreadSet threads = flushed_threads(window);
  const Failure failed =
      block(engine, *window.core, {WaitReason::flush, rank}, [&](Completion* completion) {
        return window.core->epochs().flush(rank, local, completion, threads);
      });
  if (!failed && !local) window.core->pending().mark_flushed(threads, rank);
  return failed;
}

Failure flush(WindowHandle& window, int rank, bool local) {
  if (may_flush(window, rank) && window.core->nothing_pending(rank, local)) {
    engine.sweep_in_passing(Passing::synchronizes);
    return {};
  }
  return flush_waiting(window, rank, local);
}

template <typename Host>
inline int dispatch_flush(const char* call, MPI_Win handle, int rank, bool local, Host&& host) {
  if (try_hot_path(runtime.windows.find(handle_key(handle)), [&](const WindowHandle& window) {
        if (!may_flush(window, rank) ||
            !window.core->flushed(rank, local, [&] { return flushed_threads(window); })) {
          return false;
        }
        engine.sweep_on_hot_path();
        return true;
      })) [[likely]]
    return MPI_SUCCESS;
  return dispatch_general(
      call, handle, [=](WindowHandle& window) { return flush(window, rank, local); }, host);
}

template <typename Host>
inline int dispatch_flush_all(const char* call, MPI_Win handle, bool local, Host&& host) {
  if (try_hot_path(runtime.windows.find(handle_key(handle)), [](const WindowHandle& window) {
        if (!window.core->pending().all_flushed()) return false;
        engine.sweep_on_hot_path();
        return true;
      })) [[likely]]
    return MPI_SUCCESS;
  return dispatch_general(
      call, handle,
      [=](WindowHandle& window) {
        const ThreadSet threads = flushed_threads(window);
        const Failure failed =
            block(engine, *window.core, {WaitReason::flush}, [&](Completion* completion) {
              return window.core->epochs().flush_all(local, completion, threads);
            });
        if (!failed && !local) window.core->epochs().mark_flushed(threads);
        return failed;
      },
      host);
}

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
  return code == MPI_SUCCESS ? own_requests.give_complete(request) : code;
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

int post_flush(const char* call, int rank, bool local, MPI_Win win, MPI_Request* request) {
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

int post_flush_all(const char* call, bool local, MPI_Win win, MPI_Request* request) {
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
using oriel::Error;
using oriel::Outcome;
using oriel::Passing;
using oriel::Running;
using oriel::WaitReason;
using oriel::Window;

ORIEL_MPI_CALL(Win_fence)(int given, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_fence", win,
      [&](WindowHandle& window) -> Failure {
        Assert assertion;
        if (const Failure bad = translate_assert(given, fence_asserts, assertion)) return bad;
        Window& core = *window.core;
        const Failure failed =
            block(engine, core, {WaitReason::fence}, [&](Completion* completion) {
              return core.epochs().fence(assertion, true, completion);
            });
        // A fence that closes an epoch is a barrier: no operation of the old epoch is pending.
        if (!failed && !assertion.no_precede && core.dynamic()) [[unlikely]]
          core.forget_detached();
        if (failed || assertion.no_succeed || !awaits_access(window)) return failed;
        return await_access_to_all(window, WaitReason::fence);
      },
      [&] { return host_mpi().Win_fence(given, win); });
}

ORIEL_MPI_CALL(Win_post)(MPI_Group group, int assertion, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_post", win,
      [&](WindowHandle& window) { return open_post(window, group, assertion); },
      [&] { return host_mpi().Win_post(group, assertion, win); });
}

ORIEL_MPI_CALL(Win_start)(MPI_Group group, int assertion, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_start", win,
      [&](WindowHandle& window) {
        Failure bad = open_start(window, group, assertion);
        if (bad || !awaits_access(window)) return bad;
        // A copy: other threads may start epochs during the waits.
        const auto given = window.targets.ranks();
        const std::vector<int> targets(given.begin(), given.end());
        for (const int target : targets) {
          if (bad = await_access(window, WaitReason::complete, target); bad) break;
        }
        return bad;
      },
      [&] { return host_mpi().Win_start(group, assertion, win); });
}

ORIEL_MPI_CALL(Win_complete)(MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_complete", win,
      [&](WindowHandle& window) {
        return block(engine, *window.core, {WaitReason::complete}, [&](Completion* completion) {
          return window.core->epochs().complete(completion);
        });
      },
      [&] { return host_mpi().Win_complete(win); });
}

ORIEL_MPI_CALL(Win_wait)(MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_wait", win,
      [&](WindowHandle& window) {
        return block(engine, *window.core, {WaitReason::exposure}, [&](Completion* completion) {
          return window.core->epochs().wait(completion);
        });
      },
      [&] { return host_mpi().Win_wait(win); });
}

ORIEL_MPI_CALL(Win_test)(MPI_Win win, int* flag) {
  return dispatch_epoch(
      "MPI_Win_test", win,
      [&](WindowHandle& window) -> Failure {
        if (const Failure bad = check_outputs(flag)) return bad;
        engine.sweep_in_passing(Passing::polls);
        bool over = false;
        const Error error = window.core->epochs().test(over);
        if (error == Error::none) *flag = over;
        if (error == Error::none && !over) {
          Running& running = *engine.running();
          if (running.pace.end_vain_poll(engine.lock)) {
            return look_for_lost_peers(running.process, *window.core);
          }
        }
        return failure(error, window.core->reason());
      },
      [&] { return host_mpi().Win_test(win, flag); });
}

ORIEL_MPI_CALL(Win_lock)(int lock_type, int rank, int assertion, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_lock", win,
      [&](WindowHandle& window) -> Failure {
        const Failure bad = open_lock(window, lock_type, rank, assertion, Form::blocking);
        if (bad || rank == MPI_PROC_NULL) return bad;
        // The lock must be held on return only if the program may access the memory without a call
        // (E2).
        const bool loaded =
            window.core->epochs().shared() && window.core->member(rank).base != nullptr;
        if (rank != window.core->rank() && !loaded) {
          return awaits_access(window) ? await_access(window, WaitReason::lock, rank) : Failure();
        }
        return wait_until(engine, *window.core, {WaitReason::lock, rank},
                          [&] { return window.core->epochs().try_hold_lock(rank); });
      },
      [&] {
        return host_mpi().Win_lock(lock_type, rank, assertion & ~ORIEL_MODE_WEAK_UNLOCK, win);
      });
}

ORIEL_MPI_CALL(Win_unlock)(int rank, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_unlock", win,
      [&](WindowHandle& window) -> Failure {
        if (rank == MPI_PROC_NULL) return {};
        return block(engine, *window.core, {WaitReason::unlock, rank},
                     [&](Completion* completion) { return window.core->unlock(rank, completion); });
      },
      [&] { return host_mpi().Win_unlock(rank, win); });
}

ORIEL_MPI_CALL(Win_lock_all)(int assertion, MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_lock_all", win,
      [&](WindowHandle& window) -> Failure {
        if (const Failure bad = open_lock_all(window, assertion, Form::blocking)) return bad;
        if (const Failure bad = wait_until(engine, *window.core, {WaitReason::lock},
                                           [&] { return window.core->epochs().try_hold_all(); })) {
          return bad;
        }
        return awaits_access(window) ? await_access_to_all(window, WaitReason::lock) : Failure();
      },
      [&] { return host_mpi().Win_lock_all(assertion & ~ORIEL_MODE_WEAK_UNLOCK, win); });
}

ORIEL_MPI_CALL(Win_unlock_all)(MPI_Win win) {
  return dispatch_epoch(
      "MPI_Win_unlock_all", win,
      [&](WindowHandle& window) {
        return block(engine, *window.core, {WaitReason::unlock},
                     [&](Completion* completion) { return window.core->unlock_all(completion); });
      },
      [&] { return host_mpi().Win_unlock_all(win); });
}

ORIEL_MPI_CALL(Win_flush)(int rank, MPI_Win win) {
  return dispatch_flush("MPI_Win_flush", win, rank, false,
                        [=] { return host_mpi().Win_flush(rank, win); });
}

ORIEL_MPI_CALL(Win_flush_local)(int rank, MPI_Win win) {
  return dispatch_flush("MPI_Win_flush_local", win, rank, true,
                        [=] { return host_mpi().Win_flush_local(rank, win); });
}

ORIEL_MPI_CALL(Win_flush_all)(MPI_Win win) {
  return dispatch_flush_all("MPI_Win_flush_all", win, false,
                            [&] { return host_mpi().Win_flush_all(win); });
}

ORIEL_MPI_CALL(Win_flush_local_all)(MPI_Win win) {
  return dispatch_flush_all("MPI_Win_flush_local_all", win, true,
                            [&] { return host_mpi().Win_flush_local_all(win); });
}

ORIEL_MPI_CALL(Win_sync)(MPI_Win win) {
  return dispatch_call(
      "MPI_Win_sync", win,
      [&](WindowHandle& window) {
        engine.sweep_in_passing(Passing::polls);
        return failure_of(window, window.core->epochs().sync());
      },
      [&] { return host_mpi().Win_sync(win); });
}

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
    return open_lock(window, lock_type, rank, assertion, Form::nonblocking);
  });
}

ORIEL_CALL(Win_ilock_all)(int assertion, MPI_Win win, MPI_Request* request) {
  return open_epoch("ORIEL_Win_ilock_all", win, request, [&](WindowHandle& window) {
    return open_lock_all(window, assertion, Form::nonblocking);
  });
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
  return post_flush("ORIEL_Win_iflush", rank, false, win, request);
}

ORIEL_CALL(Win_iflush_local)(int rank, MPI_Win win, MPI_Request* request) {
  return post_flush("ORIEL_Win_iflush_local", rank, true, win, request);
}

ORIEL_CALL(Win_iflush_all)(MPI_Win win, MPI_Request* request) {
  return post_flush_all("ORIEL_Win_iflush_all", false, win, request);
}

ORIEL_CALL(Win_iflush_local_all)(MPI_Win win, MPI_Request* request) {
  return post_flush_all("ORIEL_Win_iflush_local_all", true, win, request);
}
