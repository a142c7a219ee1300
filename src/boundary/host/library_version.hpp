// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// MPI_Get_library_version: name and version of the MPI in use. One library of ours serves several
/// that share an ABI.
std::string library_version();

}  // namespace oriel::boundary
