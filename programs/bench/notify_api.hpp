// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <oriel/oriel.h>

namespace bench {

/// The calls of notified access, looked up at run time: the same executable runs on the host MPI
/// alone, where they do not exist, and with the library preloaded.
struct NotifyApi {
  decltype(&ORIEL_Put_notify) put = find<decltype(&ORIEL_Put_notify)>("ORIEL_Put_notify");
  decltype(&ORIEL_Get_notify) get = find<decltype(&ORIEL_Get_notify)>("ORIEL_Get_notify");
  decltype(&ORIEL_Notify_init) init = find<decltype(&ORIEL_Notify_init)>("ORIEL_Notify_init");

  bool complete() const { return put && get && init; }

 private:
  template <typename Function>
  static Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
};

}  // namespace bench
