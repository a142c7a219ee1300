// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "oriel/oriel.h"
#include "support/exported.hpp"

namespace support {

/// The calls of nonblocking epochs.
struct Nonblocking {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Get_version);
  ORIEL_TEST_CALL(Win_ipost);
  ORIEL_TEST_CALL(Win_istart);
  ORIEL_TEST_CALL(Win_icomplete);
  ORIEL_TEST_CALL(Win_iwait);
  ORIEL_TEST_CALL(Win_ifence);
  ORIEL_TEST_CALL(Win_ilock);
  ORIEL_TEST_CALL(Win_ilock_all);
  ORIEL_TEST_CALL(Win_iunlock);
  ORIEL_TEST_CALL(Win_iunlock_all);
  ORIEL_TEST_CALL(Win_iflush);
  ORIEL_TEST_CALL(Win_iflush_local);
  ORIEL_TEST_CALL(Win_iflush_all);
  ORIEL_TEST_CALL(Win_iflush_local_all);
#undef ORIEL_TEST_CALL
};

inline bool complete_now(MPI_Request& request) {
  int flag = 0;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}
inline void wait(MPI_Request& request) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace support
