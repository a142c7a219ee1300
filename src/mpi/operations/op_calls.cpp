// SPDX-License-Identifier: BSD-3-Clause
// Calls that make and free ops, and free datatypes. Records the functions of the program's ops
// (OwnOps), and the freed datatypes, so that an operation that uses one fails (G4).
#include <dlfcn.h>

#include <string_view>

#include "mpi/host/fortran_layer.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// True if the function of an op made by `caller` has the parameters of C. Those of C++ and Java do
/// not, and those of Fortran do only if its integers and C's handles have 32 bits.
bool takes_arguments_of_c(const void* caller) {
  Dl_info object{};
  if (::dladdr(caller, &object) == 0 || object.dli_fname == nullptr) return false;
  std::string_view name(object.dli_fname);
  name.remove_prefix(name.rfind('/') + 1);
  for (const char* other : {"libmpicxx", "libmpi_cxx", "libmpi_java"}) {
    if (name.starts_with(other)) return false;
  }
  return !in_fortran_layer(caller);
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;

ORIEL_MPI_CALL(Op_create)(MPI_User_function* function, int commute, MPI_Op* op) {
  const bool known = takes_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    runtime.own_ops.note(*op, {.plain = function, .commutes = commute != 0});
  }
  return code;
}

#if ORIEL_HOST_LARGE_COUNTS
ORIEL_MPI_CALL(Op_create_c)(MPI_User_function_c* function, int commute, MPI_Op* op) {
  const bool known = takes_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create_c(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    runtime.own_ops.note(*op, {.large = function, .commutes = commute != 0});
  }
  return code;
}
#endif

ORIEL_MPI_CALL(Op_free)(MPI_Op* op) {
  // Before the host may give the handle to another thread.
  if (op != nullptr) runtime.own_ops.forget(*op);
  return host_mpi().Op_free(op);
}

ORIEL_MPI_CALL(Type_free)(MPI_Datatype* datatype) {
  if (datatype != nullptr) {
    const Guard guard(engine.lock);
    runtime.datatypes.note_free(*datatype);
  }
  return host_mpi().Type_free(datatype);
}
