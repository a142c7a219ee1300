// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/host_mpi.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace oriel::boundary {
namespace {

template <typename... Arguments>
int missing(Arguments...) {
  std::fputs(
      "oriel: the program calls an MPI function that the MPI library in use does not have; start "
      "it with the MPI that it was built with.\n",
      stderr);
  std::abort();
}

/// What follows us in the order in which names are looked up: the library needs the host's.
template <typename... Arguments>
void find(int (*&function)(Arguments...), const char* name) {
  function = missing;
  if (void* found = ::dlsym(RTLD_NEXT, name)) {
    function = reinterpret_cast<int (*)(Arguments...)>(found);
  }
}

}  // namespace

HostMpi::HostMpi() {
  for_each([](auto& function, const char* name) { find(function, name); });
}

}  // namespace oriel::boundary
