// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace cholesky {

/// Whether a rank that looks for a tile stays until there is one.
enum class Stay { no, yes };

}  // namespace cholesky
