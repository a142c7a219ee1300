// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/info/info_value.hpp"

#include <array>
#include <cstring>

#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
