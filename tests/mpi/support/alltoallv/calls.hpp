// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "oriel/collectives.h"
#include "support/exported.hpp"
#include "support/window.hpp"

namespace alltoallv {

/// Every way of the info key.
inline constexpr std::array algorithms = {
    "notified", "notified_hierarchy", "fence",     "fence_hierarchy",
    "lock",     "lock_hierarchy",     "two_sided", "auto"};

using Init = decltype(&ORIEL_Alltoallv_init);
using LargeInit = decltype(&ORIEL_Alltoallv_init_c);

/// MPI's own name, as programs get it: whoever interposes it comes first. Null if nobody has it.
inline Init standard_init(const char* name = "MPI_Alltoallv_init") {
  return reinterpret_cast<Init>(dlsym(RTLD_DEFAULT, name));
}
inline LargeInit standard_init_c() {
  return reinterpret_cast<LargeInit>(dlsym(RTLD_DEFAULT, "MPI_Alltoallv_init_c"));
}

/// Oriel's calls; where the host runs alone its own, which know nothing of the key.
struct Calls {
  Init init;
  LargeInit init_c;

  Calls() {
    const char* alone = std::getenv("ORIEL_TEST_HOST_ONLY");
    if (alone != nullptr && *alone == '1') {
      init = standard_init();
      init_c = standard_init_c();
      CHECK(init != nullptr);
    } else {
      init = support::exported<Init>("ORIEL_Alltoallv_init");
      init_c = support::exported<LargeInit>("ORIEL_Alltoallv_init_c");
    }
  }
};

inline const Calls& calls() {
  static const Calls found;
  return found;
}

}  // namespace alltoallv
