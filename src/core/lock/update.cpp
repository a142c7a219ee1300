// SPDX-License-Identifier: BSD-3-Clause
#include "core/lock/update_inline.hpp"

namespace oriel {

template class BasicUpdate<SharedWords>;

}  // namespace oriel
