// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows that Fortran programs ask for and set. The hosts' Fortran layers call MPI's
// C functions on windows, but for these: they call functions of the host's own, which Oriel
// replaces here, because the host does not know our windows.
#include <optional>

#include "boundary/host/fortran_layer.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/windows/attributes.hpp"

namespace oriel::boundary {
namespace {

using GetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* flag, int* ierror);
using SetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* ierror);

void get_attribute(GetAttribute* host, int* win, int* keyval, MPI_Aint* value, int* flag,
                   int* ierror) {
  const MPI_Win handle = ORIEL_FROM_FORTRAN(Win, *win);
  if (const std::optional<PredefinedAttribute> found = predefined_attribute(handle, *keyval)) {
    *value = found->value;
    *flag = 1;  // every compiler's .true. has this bit, and none of them asks for more
    *ierror = MPI_SUCCESS;
    return;
  }
  *ierror = pass_to_host("MPI_Win_get_attr", handle, [&] {
    host(win, keyval, value, flag, ierror);
    return *ierror;
  });
}

void set_attribute(SetAttribute* host, int* win, int* keyval, MPI_Aint* value, int* ierror) {
  const MPI_Win handle = ORIEL_FROM_FORTRAN(Win, *win);
  *ierror = pass_to_host("MPI_Win_set_attr", handle, [&] {
    host(win, keyval, value, ierror);
    return *ierror;
  });
  if (*ierror == MPI_SUCCESS) note_attribute(handle, *keyval);
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

// Under each name that a compiler or one of Open MPI's modules calls.
#define ORIEL_FORTRAN_ATTRIBUTE(get, set)                                                     \
  extern "C" __attribute__((visibility("default"))) void get(                                 \
      int* win, int* keyval, MPI_Aint* value, int* flag, int* ierror) {                       \
    static auto* const host = host_function<GetAttribute>(#get, __builtin_return_address(0)); \
    get_attribute(host, win, keyval, value, flag, ierror);                                    \
  }                                                                                           \
  extern "C" __attribute__((visibility("default"))) void set(int* win, int* keyval,           \
                                                             MPI_Aint* value, int* ierror) {  \
    static auto* const host = host_function<SetAttribute>(#set, __builtin_return_address(0)); \
    set_attribute(host, win, keyval, value, ierror);                                          \
  }

ORIEL_FORTRAN_ATTRIBUTE(mpi_win_get_attr, mpi_win_set_attr)
ORIEL_FORTRAN_ATTRIBUTE(mpi_win_get_attr_, mpi_win_set_attr_)
ORIEL_FORTRAN_ATTRIBUTE(mpi_win_get_attr__, mpi_win_set_attr__)
ORIEL_FORTRAN_ATTRIBUTE(MPI_WIN_GET_ATTR, MPI_WIN_SET_ATTR)
ORIEL_FORTRAN_ATTRIBUTE(pmpi_win_get_attr, pmpi_win_set_attr)
ORIEL_FORTRAN_ATTRIBUTE(pmpi_win_get_attr_, pmpi_win_set_attr_)
ORIEL_FORTRAN_ATTRIBUTE(pmpi_win_get_attr__, pmpi_win_set_attr__)
ORIEL_FORTRAN_ATTRIBUTE(PMPI_WIN_GET_ATTR, PMPI_WIN_SET_ATTR)
ORIEL_FORTRAN_ATTRIBUTE(ompi_win_get_attr_f, ompi_win_set_attr_f)
