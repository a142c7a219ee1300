// SPDX-License-Identifier: BSD-3-Clause
// The notified operations of oriel/notify.h (N1): each is the operation of the same name with a
// notification to its target.
#include <oriel/profiling.h>

#include "boundary/calls/operation_parameters.hpp"
#include "boundary/notify/notify_access.hpp"
#include "boundary/runtime/unsupported_window.hpp"

namespace oriel::boundary {
namespace {

inline int notify_tag(const char* call, MPI_Win handle, const Access& access) {
  return dispatch_notified(call, handle, access, [&] {
    return unsupported_window(call, handle, lacking::notified_access);
  });
}

int request_tag(const char* call, MPI_Win handle, const Access& access, MPI_Request* request) {
  return issue_with_request(call, handle, access, request, [&] {
    return unsupported_window(call, handle, lacking::notified_access);
  });
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

/// Two calls, with the window before the tag as the paper has it.
#define ORIEL_NOTIFIED(Name, name, NAME, Count, suffix)                            \
  ORIEL_CALL(Name##_notify##suffix)(ORIEL_##NAME(Count), MPI_Win win, int tag) {   \
    return notify_tag("ORIEL_" #Name "_notify" #suffix, win,                       \
                      tagged(name##_access(ORIEL_##NAME##_NAMES), tag));           \
  }                                                                                \
  ORIEL_CALL(R##name##_notify##suffix)                                             \
  (ORIEL_##NAME(Count), MPI_Win win, int tag, MPI_Request* request) {              \
    return request_tag("ORIEL_R" #name "_notify" #suffix, win,                     \
                       tagged(name##_access(ORIEL_##NAME##_NAMES), tag), request); \
  }

#define ORIEL_ALL_NOTIFIED(Count, suffix)                           \
  ORIEL_NOTIFIED(Put, put, PUT, Count, suffix)                      \
  ORIEL_NOTIFIED(Get, get, GET, Count, suffix)                      \
  ORIEL_NOTIFIED(Accumulate, accumulate, ACCUMULATE, Count, suffix) \
  ORIEL_NOTIFIED(Get_accumulate, get_accumulate, GET_ACCUMULATE, Count, suffix)

ORIEL_ALL_NOTIFIED(int, )
ORIEL_ALL_NOTIFIED(MPI_Count, _c)

ORIEL_CALL(Fetch_and_op_notify)
(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op,
 MPI_Win win, int tag) {
  return notify_tag("ORIEL_Fetch_and_op_notify", win,
                    tagged(fetch_and_op_access(origin, result, type, rank, displacement, op), tag));
}

ORIEL_CALL(Compare_and_swap_notify)
(const void* origin, const void* compare, void* result, MPI_Datatype type, int rank,
 MPI_Aint displacement, MPI_Win win, int tag) {
  return notify_tag(
      "ORIEL_Compare_and_swap_notify", win,
      tagged(compare_and_swap_access(origin, compare, result, type, rank, displacement), tag));
}
