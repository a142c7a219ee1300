// SPDX-License-Identifier: BSD-3-Clause
// Errors of windows, and the calls on their error handlers (G7).
#include "mpi/runtime/window_errors.hpp"

#include <string>
#include <utility>

#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/handle_values.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// Sets an error handler of a communicator for a scope.
class TemporaryErrhandler {
 public:
  TemporaryErrhandler(MPI_Comm communicator, MPI_Errhandler handler) : communicator_(communicator) {
    host_mpi().Comm_get_errhandler(communicator, &before_);
    set_errhandler(communicator, handler);
  }
  ~TemporaryErrhandler() {
    set_errhandler(communicator_, before_);
    host_mpi().Errhandler_free(&before_);
  }
  TemporaryErrhandler(const TemporaryErrhandler&) = delete;
  TemporaryErrhandler& operator=(const TemporaryErrhandler&) = delete;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Calls one of MPI's own handlers, which end the program or throw. The host does that on a
/// communicator.
void call_predefined(MPI_Errhandler handler, int code) {
  const MPI_Comm communicator = world_exists() ? MPI_COMM_WORLD : runtime.self.get();
  const TemporaryErrhandler meanwhile(communicator, handler);
  call_own_errhandler(communicator, code);
}

/// Raises errors on a window. Holds a reference to the error handler of a window of Oriel's,
/// because another thread may replace it, and the program free it, meanwhile.
class Raiser {
 public:
  explicit Raiser(MPI_Win window) : window_(window) {
    const Guard guard(engine.lock);
    const WindowHandle* found = runtime.windows.find(handle_key(window));
    if (found == nullptr) return;
    ours_ = true;
    name_ = found->user_state.name;
    handler_ = found->user_state.errhandler;
    runtime.window_errhandlers.hold(handler_);
  }
  ~Raiser() { runtime.window_errhandlers.release(handler_); }
  Raiser(const Raiser&) = delete;
  Raiser& operator=(const Raiser&) = delete;

  bool ours() const { return ours_; }
  const std::string& name() const { return name_; }
  /// Returns the code that the MPI call returns. `made_up`: called by MPI_Win_call_errhandler,
  /// which on all hosts ends the program if the window has no error handler.
  int call(int code, bool made_up = false) const {
    if (handler_ == MPI_ERRORS_RETURN) return code;
    if (handler_ == MPI_ERRHANDLER_NULL && ORIEL_HOST_DEFAULT_ERRHANDLERS && !made_up) {
      // MPI_Win_get_errhandler returns MPI_ERRORS_ARE_FATAL nevertheless.
      call_errhandler(MPI_COMM_NULL, code);
    } else if (handler_ == MPI_ERRHANDLER_NULL) {
      call_predefined(MPI_ERRORS_ARE_FATAL, code);
    } else if (const auto own = runtime.window_errhandlers.find(handler_)) {
      int changed = code;
      own->call(window_, changed);
      if (ORIEL_HOST_ERRHANDLERS_CHANGE_CODES) return changed;
    } else {
      call_predefined(handler_, code);
    }
    return code;
  }

 private:
  MPI_Win window_;
  bool ours_ = false;
  std::string name_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

void ErrhandlerFunction::call(MPI_Win handle, int& code) const {
  constexpr int window = 2;  // kind of object
  int in_fortran = HandleValues::to_fortran(handle);
  const auto any = reinterpret_cast<void (*)()>(function);
  if (proxy != nullptr) return proxy(window, &in_fortran, &code, any);
  if (!fortran) return function(&handle, &code);
  reinterpret_cast<void (*)(int* win, int* code)>(any)(&in_fortran, &code);
}

void WindowErrhandlers::record(MPI_Errhandler handler, const ErrhandlerFunction& function) {
  const std::lock_guard alone(alone_);
  handlers_[handle_key(handler)] = {.function = function};
}

void WindowErrhandlers::record_proxy(MPI_Errhandler handler, ErrhandlerProxy* proxy) {
  const std::lock_guard alone(alone_);
  const auto found = handlers_.find(handle_key(handler));
  if (found != handlers_.end()) found->second.function.proxy = proxy;
}

std::optional<ErrhandlerFunction> WindowErrhandlers::find(MPI_Errhandler handler) {
  const std::lock_guard alone(alone_);
  const auto found = handlers_.find(handle_key(handler));
  if (found == handlers_.end() || found->second.function.function == nullptr) return std::nullopt;
  return found->second.function;
}

bool WindowErrhandlers::valid(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_RETURN || ends_program(handler) || throws_exception(handler) ||
         find(handler).has_value();
}

void WindowErrhandlers::hold(MPI_Errhandler handler) {
  if (handler == MPI_ERRHANDLER_NULL) return;
  const std::lock_guard alone(alone_);
  ++handlers_[handle_key(handler)].references;
}

void WindowErrhandlers::release(MPI_Errhandler handler) {
  if (handler != MPI_ERRHANDLER_NULL) free(&handler);
}

int WindowErrhandlers::free(MPI_Errhandler* handler) {
  {
    const std::lock_guard alone(alone_);
    const auto found = handler != nullptr ? handlers_.find(handle_key(*handler)) : handlers_.end();
    if (found != handlers_.end() && found->second.references != 0) {
      --found->second.references;
      *handler = MPI_ERRHANDLER_NULL;
      return MPI_SUCCESS;
    }
    // Before the host may reuse the value for another thread.
    if (found != handlers_.end()) handlers_.erase(found);
  }
  return host_mpi().Errhandler_free(handler);
}

std::string on_window(const std::string& name) {
  return name.empty() ? " on an unnamed window" : " on window " + name;
}

bool call_window_errhandler(MPI_Win window, int code) {
  const Raiser raiser(window);
  if (raiser.ours()) raiser.call(code, true);
  return raiser.ours();
}

int raise(MPI_Win window, int code) {
  return Raiser(window).call(code);
}

int raise(MPI_Win window, const char* call, const Failure& failure) {
  const Raiser raiser(window);
  const std::string name = raiser.ours() ? raiser.name() : host_window_name(window);
  const std::string sentence = call + on_window(name) + ": " + failure.reason + ".";
  const int code = error_code(failure.error_class, sentence);
  if (raiser.ours()) return raiser.call(code);
  call_host_errhandler(window, code);
  return code;
}

int unsupported_window(const char* call, MPI_Win handle, const char* what, int error_class) {
  if (handle == MPI_WIN_NULL) {
    return raise(MPI_COMM_NULL, call, MPI_ERR_WIN, "the window is MPI_WIN_NULL");
  }
  if (linked_behind_host()) {
    return raise(handle, call, {MPI_ERR_WIN, behind_host_words});
  }
  const std::string reason = std::string("this window is the host MPI's and has no ") + what;
  return raise(handle, call, {error_class, reason.c_str()});
}

}  // namespace oriel::mpi

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
