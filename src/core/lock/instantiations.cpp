// SPDX-License-Identifier: BSD-3-Clause
// The templates of this folder for words in shared memory. The tests have others, for the checker.
#include "core/lock/lock_line.hpp"
#include "core/lock/update.hpp"

namespace oriel {

template class BasicLockLine<SharedWords>;
template class BasicUpdate<SharedWords>;

}  // namespace oriel
