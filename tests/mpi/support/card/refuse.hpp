// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_errno.h>

namespace card {

/// Stands in libfabric's tables for what the card does not have.
template <typename Result, typename... Arguments>
Result refuse(Arguments... /*ignored*/) {
  return static_cast<Result>(-FI_ENOSYS);
}

}  // namespace card
