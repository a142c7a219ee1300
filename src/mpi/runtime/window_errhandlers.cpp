// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/window_errhandlers.hpp"

#include "mpi/host/errors.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/handle_values.hpp"

namespace oriel::mpi {

void ErrhandlerFunction::call(MPI_Win handle, int& code) const {
  constexpr int window = 2;  // kind of object
  int in_fortran = HandleValues::to_fortran(handle);
  const auto any = reinterpret_cast<void (*)()>(function);
  if (proxy != nullptr) return proxy(window, &in_fortran, &code, any);
  if (!fortran) return function(&handle, &code);
  reinterpret_cast<void (*)(int* win, int* code)>(any)(&in_fortran, &code);
}

void WindowErrhandlers::note(MPI_Errhandler handler, const ErrhandlerFunction& function) {
  const std::lock_guard alone(alone_);
  handlers_[handle_key(handler)] = {.function = function};
}

void WindowErrhandlers::note_proxy(MPI_Errhandler handler, ErrhandlerProxy* proxy) {
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

}  // namespace oriel::mpi
