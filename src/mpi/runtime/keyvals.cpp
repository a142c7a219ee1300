// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/keyvals.hpp"

#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/handle_values.hpp"

namespace oriel::mpi {

int DeleteCallback::call(MPI_Win handle, Attribute& attribute) const {
  if (function == nullptr) return MPI_SUCCESS;
  int keyval = attribute.keyval;
  if (proxy != nullptr) {
    const int number = HandleValues::to_fortran(handle);
    return proxy(function, number, keyval, 0, attribute.in_c(), extra_state);
  }
  if (!fortran) return function(handle, keyval, attribute.in_c(), extra_state);
  using OfFortran = void(int* win, int* keyval, MPI_Aint* value, MPI_Aint* extra, int* ierror);
  int in_fortran = HandleValues::to_fortran(handle);
  auto extra = reinterpret_cast<MPI_Aint>(extra_state);
  int code = MPI_SUCCESS;
  const auto any = reinterpret_cast<void (*)()>(function);
  reinterpret_cast<OfFortran*>(any)(&in_fortran, &keyval, &attribute.value, &extra, &code);
  return code;
}

void Keyvals::record(int keyval, const DeleteCallback& callback) {
  const std::lock_guard alone(alone_);
  keyvals_[keyval] = {.callback = callback};
}

void Keyvals::change(int keyval, const std::function<void(DeleteCallback&)>& how) {
  const std::lock_guard alone(alone_);
  const auto found = keyvals_.find(keyval);
  if (found != keyvals_.end()) how(found->second.callback);
}

std::optional<DeleteCallback> Keyvals::find(int keyval) {
  const std::lock_guard alone(alone_);
  const auto found = keyvals_.find(keyval);
  if (found == keyvals_.end()) return std::nullopt;
  return found->second.callback;
}

bool Keyvals::hold(int keyval) {
  const std::lock_guard alone(alone_);
  const auto found = keyvals_.find(keyval);
  if (found == keyvals_.end() || found->second.freed) return false;
  ++found->second.attributes;
  return true;
}

void Keyvals::release(int keyval) {
  {
    const std::lock_guard alone(alone_);
    const auto found = keyvals_.find(keyval);
    if (found == keyvals_.end() || --found->second.attributes != 0 || !found->second.freed) return;
    keyvals_.erase(found);
  }
  host_mpi().Win_free_keyval(&keyval);
}

int Keyvals::free(int* keyval) {
  {
    const std::lock_guard alone(alone_);
    const auto found = keyval != nullptr ? keyvals_.find(*keyval) : keyvals_.end();
    if (found != keyvals_.end() && found->second.attributes != 0) {
      found->second.freed = true;
      *keyval = MPI_KEYVAL_INVALID;
      return MPI_SUCCESS;
    }
    // Before the host may reuse the number for another thread.
    if (found != keyvals_.end()) keyvals_.erase(found);
  }
  return host_mpi().Win_free_keyval(keyval);
}

}  // namespace oriel::mpi
