// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "oriel/oriel.h"
#include "support/exported.hpp"

namespace support {

/// The calls of notified access.
struct Notified {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Put_notify);
  ORIEL_TEST_CALL(Get_notify);
  ORIEL_TEST_CALL(Accumulate_notify);
  ORIEL_TEST_CALL(Get_accumulate_notify);
  ORIEL_TEST_CALL(Fetch_and_op_notify);
  ORIEL_TEST_CALL(Compare_and_swap_notify);
  ORIEL_TEST_CALL(Put_notify_c);
  ORIEL_TEST_CALL(Get_notify_c);
  ORIEL_TEST_CALL(Accumulate_notify_c);
  ORIEL_TEST_CALL(Get_accumulate_notify_c);
  ORIEL_TEST_CALL(Rput_notify);
  ORIEL_TEST_CALL(Rget_notify);
  ORIEL_TEST_CALL(Raccumulate_notify);
  ORIEL_TEST_CALL(Rget_accumulate_notify);
  ORIEL_TEST_CALL(Rput_notify_c);
  ORIEL_TEST_CALL(Rget_notify_c);
  ORIEL_TEST_CALL(Raccumulate_notify_c);
  ORIEL_TEST_CALL(Rget_accumulate_notify_c);
  ORIEL_TEST_CALL(Notify_init);
  ORIEL_TEST_CALL(Win_wait_notify);
  ORIEL_TEST_CALL(Notify_probe);
  ORIEL_TEST_CALL(Notify_iprobe);
#undef ORIEL_TEST_CALL
};

}  // namespace support
