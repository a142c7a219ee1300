// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "lookup.hpp"

namespace bench {

/// The nonblocking epoch calls, looked up at run time: the same executable runs on the host MPI
/// alone, where they do not exist, and with the library preloaded.
struct EpochApi {
  decltype(&ORIEL_Win_ipost) ipost = look_up<decltype(&ORIEL_Win_ipost)>("ORIEL_Win_ipost");
  decltype(&ORIEL_Win_istart) istart = look_up<decltype(&ORIEL_Win_istart)>("ORIEL_Win_istart");
  decltype(&ORIEL_Win_icomplete) icomplete =
      look_up<decltype(&ORIEL_Win_icomplete)>("ORIEL_Win_icomplete");
  decltype(&ORIEL_Win_iwait) iwait = look_up<decltype(&ORIEL_Win_iwait)>("ORIEL_Win_iwait");
  decltype(&ORIEL_Win_ifence) ifence = look_up<decltype(&ORIEL_Win_ifence)>("ORIEL_Win_ifence");
  decltype(&ORIEL_Win_ilock) ilock = look_up<decltype(&ORIEL_Win_ilock)>("ORIEL_Win_ilock");
  decltype(&ORIEL_Win_iunlock) iunlock = look_up<decltype(&ORIEL_Win_iunlock)>("ORIEL_Win_iunlock");
  decltype(&ORIEL_Win_iflush) iflush = look_up<decltype(&ORIEL_Win_iflush)>("ORIEL_Win_iflush");

  bool complete() const {
    return ipost && istart && icomplete && iwait && ifence && ilock && iunlock && iflush;
  }
};

}  // namespace bench
