// SPDX-License-Identifier: BSD-3-Clause
// The calls of oriel/remote_completion.h (Q7): MPI's request-based operations, with a request that
// also waits for completion at the target.
#include <oriel/profiling.h>

#include "core/operation/operation.hpp"
#include "mpi/calls/parameters.hpp"
#include "mpi/operations/operations.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

int request_at_target(const char* call, MPI_Win handle, Access access, MPI_Request* request) {
  access.completes_there = true;
  const int code = issue_with_request(call, handle, access, request, [&] {
    return unsupported_window(call, handle, lacking::remote_completion);
  });
  order_behind_flush();
  return code;
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

#define ORIEL_REMOTE_COMPLETING(name, NAME, Count, suffix)                                       \
  ORIEL_CALL(Rr##name##suffix)                                                                   \
  (ORIEL_##NAME##_ARGS(Count), MPI_Win win, MPI_Request * request) {                             \
    return request_at_target("ORIEL_Rr" #name #suffix, win, name##_access(ORIEL_##NAME##_NAMES), \
                             request);                                                           \
  }

#define ORIEL_ALL_REMOTE_COMPLETING(Count, suffix)               \
  ORIEL_REMOTE_COMPLETING(put, PUT, Count, suffix)               \
  ORIEL_REMOTE_COMPLETING(accumulate, ACCUMULATE, Count, suffix) \
  ORIEL_REMOTE_COMPLETING(get_accumulate, GET_ACCUMULATE, Count, suffix)

ORIEL_ALL_REMOTE_COMPLETING(int, )
ORIEL_ALL_REMOTE_COMPLETING(MPI_Count, _c)
