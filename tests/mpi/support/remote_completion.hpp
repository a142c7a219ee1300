// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "oriel/oriel.h"
#include "support/exported.hpp"

namespace support {

/// The operations whose requests wait for the target as well.
struct RemoteCompletion {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Rrput);
  ORIEL_TEST_CALL(Rraccumulate);
  ORIEL_TEST_CALL(Rrget_accumulate);
  ORIEL_TEST_CALL(Rrput_c);
  ORIEL_TEST_CALL(Rraccumulate_c);
  ORIEL_TEST_CALL(Rrget_accumulate_c);
#undef ORIEL_TEST_CALL
};

}  // namespace support
