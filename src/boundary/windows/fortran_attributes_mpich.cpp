// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows that Fortran programs ask for and set. The hosts' Fortran layers call MPI's
// C functions on windows, but for these: they call functions of the host's own, which Oriel
// replaces here, because the host does not know our windows. MPICH's C binding calls the same two,
// and asks for addresses (`kind` 0).
#include <optional>

#include "boundary/host/fortran_layer.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/windows/attributes.hpp"

namespace oriel::boundary {
namespace {

constexpr int asked_by_c = 0;

/// In Fortran MPICH's own keys are one above C's.
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
}  // namespace oriel::boundary

using namespace oriel::boundary;

extern "C" {
__attribute__((visibility("default"))) int MPII_Win_get_attr(MPI_Win win, int keyval, void* value,
                                                             int* flag, int kind);
__attribute__((visibility("default"))) int MPII_Win_set_attr(MPI_Win win, int keyval, void* value,
                                                             int kind);
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, int kind) {
  static auto* const host =
      host_function<decltype(MPII_Win_get_attr)>("MPII_Win_get_attr", __builtin_return_address(0));
  std::optional<PredefinedAttribute> found;
  if (kind != asked_by_c) found = predefined_attribute(win, key_of_c(keyval));
  if (!found) {
    return pass_to_host("MPI_Win_get_attr", win,
                        [&] { return host(win, keyval, value, flag, kind); });
  }
  *static_cast<MPI_Aint*>(value) = found->value;
  *flag = 1;
  return MPI_SUCCESS;
}

int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int kind) {
  static auto* const host =
      host_function<decltype(MPII_Win_set_attr)>("MPII_Win_set_attr", __builtin_return_address(0));
  const int code =
      pass_to_host("MPI_Win_set_attr", win, [&] { return host(win, keyval, value, kind); });
  if (code == MPI_SUCCESS) note_attribute(win, keyval);
  return code;
}
