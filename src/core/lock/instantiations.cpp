// SPDX-License-Identifier: BSD-3-Clause
// The templates of this folder for words in shared memory. The tests have others, for the checker.
#include "core/lock/lock_line_inline.hpp"
#include "core/lock/update_inline.hpp"

namespace oriel {

template class BasicLockLine<SharedWords>;
template class BasicUpdate<SharedWords>;

}  // namespace oriel
