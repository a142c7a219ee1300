// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The value of the key. None if the info lacks it or is MPI_INFO_NULL, or if the host refuses the
/// call.
std::optional<std::string> info_value(MPI_Info info, const char* key);

}  // namespace oriel::boundary
