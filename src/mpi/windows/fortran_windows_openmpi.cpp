// SPDX-License-Identifier: BSD-3-Clause
// Attributes and error handlers of windows in Fortran programs. The hosts' Fortran layers call
// MPI's C functions on windows, with these exceptions: they call functions of the host's own, which
// Oriel replaces here, because the host does not know Oriel's windows.
#include "mpi/host/fortran_layer.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/windows/attributes.hpp"

namespace oriel::mpi {
namespace {

using GetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* flag, int* ierror);
using SetAttribute = void(int* win, int* keyval, MPI_Aint* value, int* ierror);
using CreateKeyval = void(void (*copy)(), void (*erase)(), int* keyval, MPI_Aint* state,
                          int* ierror);
using CreateErrhandler = void(void (*function)(), int* handler, int* ierror);

void get_attribute_in_fortran(GetAttribute* host, int* win, int* keyval, MPI_Aint* value, int* flag,
                              int* ierror) {
  *ierror = get_attribute(
      ORIEL_WIN_FROM_FORTRAN(*win), *keyval, value, flag,
      [&](const AttributeValue& found) { *value = found.value; },
      [&] {
        host(win, keyval, value, flag, ierror);
        return *ierror;
      });
}

void set_attribute_in_fortran(SetAttribute* host, int* win, int* keyval, MPI_Aint* value,
                              int* ierror) {
  const Attribute attribute{.keyval = *keyval, .value = *value, .set_by_fortran = true};
  *ierror = set_attribute(ORIEL_WIN_FROM_FORTRAN(*win), attribute, [&] {
    host(win, keyval, value, ierror);
    return *ierror;
  });
}

void create_keyval(CreateKeyval* host, void (*copy)(), void (*erase)(), int* keyval,
                   MPI_Aint* state, int* ierror) {
  host(copy, erase, keyval, state, ierror);
  if (*ierror != MPI_SUCCESS) return;
  runtime.keyvals.record(*keyval,
                         {.function = reinterpret_cast<MPI_Win_delete_attr_function*>(erase),
                          .extra_state = reinterpret_cast<void*>(*state),
                          .fortran = true});
}

void create_errhandler(CreateErrhandler* host, void (*function)(), int* handler, int* ierror) {
  host(function, handler, ierror);
  if (*ierror != MPI_SUCCESS) return;
  runtime.window_errhandlers.record(
      ORIEL_FROM_FORTRAN(Errhandler, *handler),
      {.function = reinterpret_cast<MPI_Win_errhandler_function*>(function), .fortran = true});
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
// Defines the Fortran function `name`: it calls `by` with the host's function of that name and the
// arguments.
#define ORIEL_LAYER_CALL(name, type, by, parameters, ...)                              \
  extern "C" __attribute__((visibility("default"))) void name parameters {             \
    static auto* const host = host_function<type>(#name, __builtin_return_address(0)); \
    by(host, __VA_ARGS__);                                                             \
  }
// NOLINTEND(bugprone-macro-parentheses)
// Defines the functions under each name that a compiler or a module of Open MPI calls.
#define ORIEL_LAYER_CALLS(get, set, keyval_of, errhandler_of)                                     \
  ORIEL_LAYER_CALL(get, GetAttribute, get_attribute_in_fortran,                                   \
                   (int* win, int* keyval, MPI_Aint* value, int* flag, int* ierror), win, keyval, \
                   value, flag, ierror)                                                           \
  ORIEL_LAYER_CALL(set, SetAttribute, set_attribute_in_fortran,                                   \
                   (int* win, int* keyval, MPI_Aint* value, int* ierror), win, keyval, value,     \
                   ierror)                                                                        \
  ORIEL_LAYER_CALL(keyval_of, CreateKeyval, create_keyval,                                        \
                   (void (*copy)(), void (*erase)(), int* keyval, MPI_Aint* state, int* ierror),  \
                   copy, erase, keyval, state, ierror)                                            \
  ORIEL_LAYER_CALL(errhandler_of, CreateErrhandler, create_errhandler,                            \
                   (void (*function)(), int* handler, int* ierror), function, handler, ierror)
#define ORIEL_LAYER_SPELLINGS(start, end)                                                     \
  ORIEL_LAYER_CALLS(start##_get_attr##end, start##_set_attr##end, start##_create_keyval##end, \
                    start##_create_errhandler##end)

ORIEL_LAYER_SPELLINGS(mpi_win, )
ORIEL_LAYER_SPELLINGS(mpi_win, _)
ORIEL_LAYER_SPELLINGS(mpi_win, __)
ORIEL_LAYER_SPELLINGS(pmpi_win, )
ORIEL_LAYER_SPELLINGS(pmpi_win, _)
ORIEL_LAYER_SPELLINGS(pmpi_win, __)
ORIEL_LAYER_SPELLINGS(ompi_win, _f)
ORIEL_LAYER_CALLS(MPI_WIN_GET_ATTR, MPI_WIN_SET_ATTR, MPI_WIN_CREATE_KEYVAL,
                  MPI_WIN_CREATE_ERRHANDLER)
ORIEL_LAYER_CALLS(PMPI_WIN_GET_ATTR, PMPI_WIN_SET_ATTR, PMPI_WIN_CREATE_KEYVAL,
                  PMPI_WIN_CREATE_ERRHANDLER)
