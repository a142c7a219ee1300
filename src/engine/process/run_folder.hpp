// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

namespace oriel {

/// The folder in which `oriel run` collects what the processes of a run report; null: there is
/// none. The variable is no setting: `oriel run` alone sets it. A privileged program creates no
/// files where the environment says.
inline const char* run_folder() {
  return ::secure_getenv("ORIEL_LOAD_REPORT");
}

}  // namespace oriel
