// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

// The parameters of each operation that takes counts, as MPI has them, and their names: what tables
// of calls are made of.

#define ORIEL_ORIGIN(Count) const void *origin, Count origin_count, MPI_Datatype origin_type
#define ORIEL_RESULT(Count) void *result, Count result_count, MPI_Datatype result_type
#define ORIEL_TARGET(Count) \
  int rank, MPI_Aint displacement, Count target_count, MPI_Datatype target_type

#define ORIEL_ORIGIN_NAMES origin, origin_count, origin_type
#define ORIEL_RESULT_NAMES result, result_count, result_type
#define ORIEL_TARGET_NAMES rank, displacement, target_count, target_type

#define ORIEL_PUT(Count) ORIEL_ORIGIN(Count), ORIEL_TARGET(Count)
#define ORIEL_GET(Count) ORIEL_RESULT(Count), ORIEL_TARGET(Count)
#define ORIEL_ACCUMULATE(Count) ORIEL_ORIGIN(Count), ORIEL_TARGET(Count), MPI_Op op
#define ORIEL_GET_ACCUMULATE(Count) \
  ORIEL_ORIGIN(Count), ORIEL_RESULT(Count), ORIEL_TARGET(Count), MPI_Op op

#define ORIEL_PUT_NAMES ORIEL_ORIGIN_NAMES, ORIEL_TARGET_NAMES
#define ORIEL_GET_NAMES ORIEL_RESULT_NAMES, ORIEL_TARGET_NAMES
#define ORIEL_ACCUMULATE_NAMES ORIEL_ORIGIN_NAMES, ORIEL_TARGET_NAMES, op
#define ORIEL_GET_ACCUMULATE_NAMES ORIEL_ORIGIN_NAMES, ORIEL_RESULT_NAMES, ORIEL_TARGET_NAMES, op
