// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/host_mpi.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace oriel::mpi {
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

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  host_mpi().Get_library_version(text.data(), &length);
  return text.data();
}

std::optional<std::string> info_value(MPI_Info info, const char* key) {
  // A key that is too long for the host cannot have been set, and an inquiry for it is an error.
  if (info == MPI_INFO_NULL || std::strlen(key) >= MPI_MAX_INFO_KEY) return std::nullopt;
  std::array<char, MPI_MAX_INFO_VAL + 1> value;
  int found = 0;
  // Deprecated since MPI-4, but every host has it; not every host has the call that replaces it.
  if (PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS || !found) {
    return std::nullopt;
  }
  return std::string(value.data());
}

}  // namespace oriel::mpi
