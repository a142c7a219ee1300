// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <oriel/oriel.h>

namespace patterns {

/// The nonblocking epoch calls, looked up at run time: the same executable runs on the host MPI
/// alone, where they do not exist, and with the library preloaded.
struct OrielApi {
  decltype(&ORIEL_Win_ipost) ipost = find<decltype(&ORIEL_Win_ipost)>("ORIEL_Win_ipost");
  decltype(&ORIEL_Win_istart) istart = find<decltype(&ORIEL_Win_istart)>("ORIEL_Win_istart");
  decltype(&ORIEL_Win_icomplete) icomplete =
      find<decltype(&ORIEL_Win_icomplete)>("ORIEL_Win_icomplete");
  decltype(&ORIEL_Win_iwait) iwait = find<decltype(&ORIEL_Win_iwait)>("ORIEL_Win_iwait");
  decltype(&ORIEL_Win_ifence) ifence = find<decltype(&ORIEL_Win_ifence)>("ORIEL_Win_ifence");
  decltype(&ORIEL_Win_ilock) ilock = find<decltype(&ORIEL_Win_ilock)>("ORIEL_Win_ilock");
  decltype(&ORIEL_Win_iunlock) iunlock = find<decltype(&ORIEL_Win_iunlock)>("ORIEL_Win_iunlock");
  decltype(&ORIEL_Win_iflush) iflush = find<decltype(&ORIEL_Win_iflush)>("ORIEL_Win_iflush");

  bool complete() const {
    return ipost && istart && icomplete && iwait && ifence && ilock && iunlock && iflush;
  }

 private:
  template <typename Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
};

}  // namespace patterns
