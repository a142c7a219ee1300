// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/unsupported_window.hpp"

#include <dlfcn.h>

#include <string>

#include "boundary/host/errors.hpp"

namespace oriel::boundary {
namespace {

/// Whether the program's MPI calls go past this library, because it was linked behind the MPI.
bool bypassed() {
  Dl_info bound{};
  Dl_info own{};
  return ::dladdr(::dlsym(RTLD_DEFAULT, "MPI_Win_create"), &bound) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&bypassed), &own) != 0 &&
         bound.dli_fbase != own.dli_fbase;
}

}  // namespace

int unsupported_window(const char* call, MPI_Win handle, const char* what, int error_class) {
  if (handle == MPI_WIN_NULL) {
    return raise(MPI_COMM_SELF, call, MPI_ERR_WIN, "the window is MPI_WIN_NULL");
  }
  if (bypassed()) {
    return raise(handle, call,
                 {MPI_ERR_WIN,
                  "the program's calls reach the MPI library before Oriel; link Oriel in front of "
                  "MPI, or start the program with oriel run"});
  }
  const std::string reason = std::string("this window is the host MPI's and has no ") + what;
  return raise(handle, call, {error_class, reason.c_str()});
}

}  // namespace oriel::boundary
