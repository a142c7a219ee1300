// SPDX-License-Identifier: BSD-3-Clause
// Attributes and error handlers of windows in Fortran and C++ programs. The hosts' Fortran layers
// call MPI's C functions on windows, with these exceptions: they call functions of the host's own,
// which Oriel replaces here, because the host does not know Oriel's windows. MPICH's C binding also
// calls the first two, for windows of the host's, with `kind` 0.
#include "mpi/host/fortran_layer.hpp"
#include "mpi/windows/attributes.hpp"

namespace oriel::mpi {
namespace {

/// MPICH's predefined keys are one higher in Fortran than in C.
int key_of_c(int keyval) {
  switch (keyval - 1) {
    case MPI_WIN_BASE:
    case MPI_WIN_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return keyval - 1;
    default:
      return keyval;
  }
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

extern "C" {
__attribute__((visibility("default"))) int MPII_Win_get_attr(MPI_Win win, int keyval, void* value,
                                                             int* flag, int kind);
__attribute__((visibility("default"))) int MPII_Win_set_attr(MPI_Win win, int keyval, void* value,
                                                             int kind);
__attribute__((visibility("default"))) void MPII_Keyval_set_proxy(int keyval, void* copy,
                                                                  void* erase);
__attribute__((visibility("default"))) void MPII_Errhandler_set_cxx(MPI_Errhandler handler,
                                                                    ErrhandlerProxy* proxy);
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, int kind) {
  static auto* const host =
      host_function<decltype(MPII_Win_get_attr)>("MPII_Win_get_attr", __builtin_return_address(0));
  return get_attribute(
      win, key_of_c(keyval), value, flag,
      [&](const AttributeValue& found) { *static_cast<MPI_Aint*>(value) = found.value; },
      [&] { return host(win, keyval, value, flag, kind); });
}

int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int kind) {
  static auto* const host =
      host_function<decltype(MPII_Win_set_attr)>("MPII_Win_set_attr", __builtin_return_address(0));
  const Attribute attribute{
      .keyval = keyval, .value = reinterpret_cast<MPI_Aint>(value), .set_by_fortran = true};
  return set_attribute(win, attribute, [&] { return host(win, keyval, value, kind); });
}

/// The layer has made a keyval, by C's MPI_Win_create_keyval or for another kind of object, and now
/// declares its callbacks to be Fortran's or C++'s. Fortran's extra state is the address of an
/// integer.
void MPII_Keyval_set_proxy(int keyval, void* copy, void* erase) {
  static auto* const host = host_function<decltype(MPII_Keyval_set_proxy)>(
      "MPII_Keyval_set_proxy", __builtin_return_address(0));
  const bool fortran = in_fortran_layer(erase);
  runtime.keyvals.change(keyval, [&](DeleteCallback& callback) {
    if (fortran) {
      callback.fortran = true;
      callback.extra_state = reinterpret_cast<void*>(*static_cast<MPI_Aint*>(callback.extra_state));
    } else {
      callback.proxy = reinterpret_cast<DeleteProxy*>(erase);
    }
  });
  host(keyval, copy, erase);
}

/// The layer declares the function of an error handler to be C++'s.
void MPII_Errhandler_set_cxx(MPI_Errhandler handler, ErrhandlerProxy* proxy) {
  static auto* const host = host_function<decltype(MPII_Errhandler_set_cxx)>(
      "MPII_Errhandler_set_cxx", __builtin_return_address(0));
  runtime.window_errhandlers.record_proxy(handler, proxy);
  host(handler, proxy);
}
