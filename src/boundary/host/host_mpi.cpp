// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/host_mpi.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace oriel::boundary {
namespace {

template <typename... Arguments>
int missing(Arguments...) {
  std::fprintf(stderr, "oriel: %s.\n",
               linked_behind_host()
                   ? behind_host_words
                   : "the program calls an MPI function that the MPI library in use does not have; "
                     "start it with the MPI that it was built with");
  std::abort();
}

/// Finds the host's function. In the order of look-up the host follows Oriel, which is linked to
/// it.
template <typename... Arguments>
void find(int (*&function)(Arguments...), const char* name) {
  function = missing;
  if (void* found = ::dlsym(RTLD_NEXT, name)) {
    function = reinterpret_cast<int (*)(Arguments...)>(found);
  }
}

}  // namespace

bool linked_behind_host() {
  // Not an MPI_ name, because a tool in front of Oriel may define that.
  Dl_info bound{};
  Dl_info own{};
  return ::dladdr(::dlsym(RTLD_DEFAULT, "PMPI_Win_create"), &bound) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&linked_behind_host), &own) != 0 &&
         bound.dli_fbase != own.dli_fbase;
}

HostMpi::HostMpi() {
  for_each([](auto& function, const char* name) { find(function, name); });
}

}  // namespace oriel::boundary
