// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>

namespace oriel {

/// The folder in which `oriel run` collects the reports of a run's processes; null: there is none.
/// The variable is not a setting: only `oriel run` sets it. A privileged program ignores it,
/// because it must not create files at a path from the environment.
inline const char* run_folder() {
  return ::secure_getenv("ORIEL_LOAD_REPORT");
}

}  // namespace oriel
