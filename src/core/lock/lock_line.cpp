// SPDX-License-Identifier: BSD-3-Clause
#include "core/lock/lock_line_inline.hpp"

namespace oriel {

template class BasicLockLine<SharedWords>;

}  // namespace oriel
