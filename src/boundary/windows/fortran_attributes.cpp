// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows that Fortran programs ask for and set. The hosts' Fortran layers reach all
// of a window through MPI's C functions, but for these: they go to functions of the host's own,
// which know nothing of our windows.
#include <dlfcn.h>

#include <optional>

#include "boundary/runtime/runtime.hpp"
#include "boundary/windows/attributes.hpp"

namespace oriel::boundary {
namespace {

/// The host's function of the name by which we have been called. It follows us; or only the caller
/// finds it, an extension of Python's for example, whose libraries nobody else looks into.
template <typename Function>
Function* host_function(const char* name, const void* caller) {
  void* found = ::dlsym(RTLD_NEXT, name);
  Dl_info object{};
  if (found == nullptr && ::dladdr(caller, &object) != 0) {
    if (void* opened = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
      found = ::dlsym(opened, name);
      ::dlclose(opened);  // the caller keeps it loaded
    }
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

#if ORIEL_HOST_FORTRAN_BY_MPII

// MPICH's functions for both of Fortran's bindings, and for C, which asks for addresses.
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
  if (!found) return host(win, keyval, value, flag, kind);
  *static_cast<MPI_Aint*>(value) = found->value;
  *flag = 1;
  return MPI_SUCCESS;
}

int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int kind) {
  static auto* const host =
      host_function<decltype(MPII_Win_set_attr)>("MPII_Win_set_attr", __builtin_return_address(0));
  const int code = host(win, keyval, value, kind);
  if (code == MPI_SUCCESS) note_attribute(win, keyval);
  return code;
}

#else

namespace oriel::boundary {
namespace {

using GetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* flag, int* ierror);
using SetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* ierror);

void get_attribute(GetAttribute* host, int* win, int* keyval, MPI_Aint* value, int* flag,
                   int* ierror) {
  const std::optional<PredefinedAttribute> found =
      predefined_attribute(ORIEL_FROM_FORTRAN(Win, *win), *keyval);
  if (!found) return host(win, keyval, value, flag, ierror);
  *value = found->value;
  *flag = 1;  // every compiler's .true. has this bit, and none of them asks for more
  *ierror = MPI_SUCCESS;
}

void set_attribute(SetAttribute* host, int* win, int* keyval, MPI_Aint* value, int* ierror) {
  host(win, keyval, value, ierror);
  if (*ierror == MPI_SUCCESS) note_attribute(ORIEL_FROM_FORTRAN(Win, *win), *keyval);
}

}  // namespace
}  // namespace oriel::boundary

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

#endif
