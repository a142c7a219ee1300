// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/library_version.hpp"

#include <array>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  return text.data();
}

}  // namespace oriel::boundary
