// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "oriel/intel_notify.h"
#include "oriel/oriel.h"
#include "support/exported.hpp"

namespace support {

/// The calls of notification counters.
struct Counters {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Err_rma_notification);
  ORIEL_TEST_CALL(Win_set_num_notify);
  ORIEL_TEST_CALL(Win_get_num_notify);
  ORIEL_TEST_CALL(Win_get_notify_value);
  ORIEL_TEST_CALL(Win_set_notify_value);
  ORIEL_TEST_CALL(Win_reset_notify_value);
  ORIEL_TEST_CALL(Win_get_notify_request);
  ORIEL_TEST_CALL(Put_notify_counter);
  ORIEL_TEST_CALL(Get_notify_counter);
  ORIEL_TEST_CALL(Accumulate_notify_counter);
  ORIEL_TEST_CALL(Get_accumulate_notify_counter);
  ORIEL_TEST_CALL(Put_notify_counter_c);
  ORIEL_TEST_CALL(Get_notify_counter_c);
  ORIEL_TEST_CALL(Accumulate_notify_counter_c);
  ORIEL_TEST_CALL(Get_accumulate_notify_counter_c);
  ORIEL_TEST_CALL(Rput_notify_counter);
  ORIEL_TEST_CALL(Rget_notify_counter);
  ORIEL_TEST_CALL(Raccumulate_notify_counter);
  ORIEL_TEST_CALL(Rget_accumulate_notify_counter);
  ORIEL_TEST_CALL(Rput_notify_counter_c);
  ORIEL_TEST_CALL(Rget_notify_counter_c);
  ORIEL_TEST_CALL(Raccumulate_notify_counter_c);
  ORIEL_TEST_CALL(Rget_accumulate_notify_counter_c);
#undef ORIEL_TEST_CALL
};

/// Intel MPI's names of them.
struct IntelCounters {
#define ORIEL_TEST_CALL(prefix, name) \
  decltype(&prefix##_##name) name = exported<decltype(&prefix##_##name)>(#prefix "_" #name)
  ORIEL_TEST_CALL(MPIX, Win_create_notify);
  ORIEL_TEST_CALL(MPIX, Win_free_notify);
  ORIEL_TEST_CALL(MPIX, Win_get_notify);
  ORIEL_TEST_CALL(MPIX, Win_set_notify);
  ORIEL_TEST_CALL(MPIX, Win_get_notify_request);
  ORIEL_TEST_CALL(MPIX, Put_notify);
  ORIEL_TEST_CALL(MPIX, Get_notify);
  ORIEL_TEST_CALL(MPIX, Put_notify_c);
  ORIEL_TEST_CALL(MPIX, Get_notify_c);
  ORIEL_TEST_CALL(MPI, Win_notify_attach);
  ORIEL_TEST_CALL(MPI, Win_notify_set_num);
  ORIEL_TEST_CALL(MPI, Win_notify_detach);
  ORIEL_TEST_CALL(MPI, Win_notify_get_value);
  ORIEL_TEST_CALL(MPI, Win_notify_set_value);
#undef ORIEL_TEST_CALL
};

}  // namespace support
