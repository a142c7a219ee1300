// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "bench/lookup.hpp"

namespace exposures {

/// The calls of duplicates and memory handles, looked up at run time: the same executable runs on
/// the host MPI alone, where they do not exist, and with the library preloaded.
struct WindowsApi {
  decltype(&ORIEL_Win_dup_with_info) duplicate =
      bench::look_up<decltype(duplicate)>("ORIEL_Win_dup_with_info");
  decltype(&ORIEL_Memhandle_create) create =
      bench::look_up<decltype(create)>("ORIEL_Memhandle_create");
  decltype(&ORIEL_Win_from_memhandle) window_from =
      bench::look_up<decltype(window_from)>("ORIEL_Win_from_memhandle");
  decltype(&ORIEL_Memhandle_release) release =
      bench::look_up<decltype(release)>("ORIEL_Memhandle_release");

  bool complete() const { return duplicate && create && window_from && release; }
};

}  // namespace exposures
