// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

namespace bench {

/// A function that the preloaded library or the MPI may have, by its name; null where it does not
/// exist.
template <typename Function>
Function look_up(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace bench
