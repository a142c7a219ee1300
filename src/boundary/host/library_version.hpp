// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel::boundary {

/// The result of MPI_Get_library_version: name and version of the MPI in use. One library of
/// Oriel's serves several MPIs that share an ABI.
std::string library_version();

}  // namespace oriel::boundary
