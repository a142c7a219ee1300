// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/fortran_layer.hpp"

#include <dlfcn.h>

#include <array>

#include "mpi/host/host_library.hpp"
#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// The Fortran layer's MPI_OP_CREATE, in the spelling of any compiler; null: neither this object
/// nor one that it needs has it.
const void* fortran_function(const char* object) {
  static constexpr std::array names{"mpi_op_create_", "mpi_op_create", "mpi_op_create__",
                                    "MPI_OP_CREATE"};
  void* opened = ::dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return nullptr;  // an object of the kernel's
  const void* found = nullptr;
  for (const char* name : names) {
    if (found == nullptr) found = ::dlsym(opened, name);
  }
  ::dlclose(opened);
  return found;
}

}  // namespace

bool in_fortran_layer(const void* code) {
  Dl_info caller{};
  Dl_info layer{};
  if (::dladdr(code, &caller) == 0) return false;
  const void* function = fortran_function(caller.dli_fname);
  return function != nullptr && ::dladdr(function, &layer) != 0 &&
         layer.dli_fbase == caller.dli_fbase;
}

void* find_host_function(const char* name, const void* caller) {
  void* found = find_host_symbol(name);
  Dl_info object{};
  if (found == nullptr && ::dladdr(caller, &object) != 0) {
    if (void* opened = ::dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
      found = ::dlsym(opened, name);
      ::dlclose(opened);  // the caller keeps it loaded
    }
  }
  if (found == nullptr) end_for_missing_function(name);
  return found;
}

}  // namespace oriel::mpi
