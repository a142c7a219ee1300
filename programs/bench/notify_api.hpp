// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <oriel/oriel.h>

#include "lookup.hpp"

namespace bench {

/// The calls of notified access, looked up at run time: the same executable runs on the host MPI
/// alone, where they do not exist, and with the library preloaded.
struct NotifyApi {
  decltype(&ORIEL_Put_notify) put = look_up<decltype(&ORIEL_Put_notify)>("ORIEL_Put_notify");
  decltype(&ORIEL_Get_notify) get = look_up<decltype(&ORIEL_Get_notify)>("ORIEL_Get_notify");
  decltype(&ORIEL_Notify_init) init = look_up<decltype(&ORIEL_Notify_init)>("ORIEL_Notify_init");

  bool complete() const { return put && get && init; }
};

}  // namespace bench
