// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "oriel/windows.h"
#include "support/exported.hpp"

namespace support {

/// The calls of duplicates and memory handles.
struct Windows {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Win_dup_with_info);
  ORIEL_TEST_CALL(Memhandle_create);
  ORIEL_TEST_CALL(Win_from_memhandle);
  ORIEL_TEST_CALL(Memhandle_release);
#undef ORIEL_TEST_CALL
};

}  // namespace support
