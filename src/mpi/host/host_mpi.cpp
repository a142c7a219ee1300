// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/host_mpi.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/process/call_site.hpp"
#include "mpi/host/host_library.hpp"

namespace oriel::mpi {
namespace {

template <typename Function>
void find(Function*& function, const char* name) {
  void* const found = find_host_symbol(name);
  function = found != nullptr ? reinterpret_cast<Function*>(found) : missing_function(function);
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
  if (!host_loaded()) {
    std::fprintf(stderr, "oriel: %s.\n", why_no_host().c_str());
    std::abort();
  }
#if ORIEL_HOST_IS_OPEN_MPI
  open_mpi_handles.find_all(find_host_variable);
#endif
  for_each([](auto& function, const char* name) { find(function, name); });
}

void end_for_missing_function(const std::string& name) {
  std::fprintf(stderr,
               "oriel: the program calls %s, which the MPI library in use does not have; start it "
               "with the MPI that it was built with.\n",
               name.c_str());
  std::abort();
}

void end_for_missing_call() {
  const std::string call = CallSite(CallFrames::of_this_thread()).call;
  end_for_missing_function(call.empty() ? "an MPI function" : call);
}

MPI_T_pvar_handle all_pvar_handles() {
#ifdef MPI_T_PVAR_ALL_HANDLES
  return MPI_T_PVAR_ALL_HANDLES;
#else
  static const auto* const value =
      static_cast<const MPI_T_pvar_handle*>(find_host_variable("MPI_T_PVAR_ALL_HANDLES"));
  return value != nullptr ? *value : MPI_T_pvar_handle{};
#endif
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  host_mpi().Get_library_version(text.data(), &length);
  return text.data();
}

std::optional<std::pair<int, int>> mpich_version() {
  const std::string text = library_version();
  for (const char* before : {"MPICH Version:", "(ANL base"}) {
    const std::size_t at = text.find(before);
    int major = 0;
    int minor = 0;
    if (at != std::string::npos &&
        std::sscanf(text.c_str() + at + std::strlen(before), "%d.%d", &major, &minor) == 2) {
      return std::pair(major, minor);
    }
  }
  return std::nullopt;
}

std::optional<std::string> info_value(MPI_Info info, const char* key) {
  // A key that is too long for the host cannot have been set, and an inquiry for it is an error.
  if (info == MPI_INFO_NULL || std::strlen(key) >= MPI_MAX_INFO_KEY) return std::nullopt;
  std::array<char, MPI_MAX_INFO_VAL + 1> value;
  int found = 0;
  // Deprecated since MPI-4, but every host has it; not every host has the call that replaces it.
  if (host_mpi().Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS ||
      !found) {
    return std::nullopt;
  }
  return std::string(value.data());
}

}  // namespace oriel::mpi
