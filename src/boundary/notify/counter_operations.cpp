// SPDX-License-Identifier: BSD-3-Clause
// The operations of oriel/notify_counters.h (N8): each is the operation of the same name and adds
// one to a counter of its target.
#include <oriel/profiling.h>

#include "boundary/calls/operation_parameters.hpp"
#include "boundary/notify/counter_values.hpp"
#include "boundary/notify/notify_access.hpp"

namespace oriel::boundary {
namespace {

inline int notify_counter(const char* call, MPI_Win handle, const Access& access) {
  return dispatch_notified(call, handle, access, [&] { return no_counters(call, handle); });
}

int request_counter(const char* call, MPI_Win handle, const Access& access, MPI_Request* request) {
  return issue_with_request(call, handle, access, request,
                            [&] { return no_counters(call, handle); });
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

/// Two calls, with the index before the window as the Forum's draft has it.
#define ORIEL_COUNTED(Name, name, NAME, Count, suffix)                                     \
  ORIEL_CALL(Name##_notify_counter##suffix)(ORIEL_##NAME(Count), int index, MPI_Win win) { \
    return notify_counter("ORIEL_" #Name "_notify_counter" #suffix, win,                   \
                          counted(name##_access(ORIEL_##NAME##_NAMES), index));            \
  }                                                                                        \
  ORIEL_CALL(R##name##_notify_counter##suffix)                                             \
  (ORIEL_##NAME(Count), int index, MPI_Win win, MPI_Request* request) {                    \
    return request_counter("ORIEL_R" #name "_notify_counter" #suffix, win,                 \
                           counted(name##_access(ORIEL_##NAME##_NAMES), index), request);  \
  }

#define ORIEL_ALL_COUNTED(Count, suffix)                           \
  ORIEL_COUNTED(Put, put, PUT, Count, suffix)                      \
  ORIEL_COUNTED(Get, get, GET, Count, suffix)                      \
  ORIEL_COUNTED(Accumulate, accumulate, ACCUMULATE, Count, suffix) \
  ORIEL_COUNTED(Get_accumulate, get_accumulate, GET_ACCUMULATE, Count, suffix)

ORIEL_ALL_COUNTED(int, )
ORIEL_ALL_COUNTED(MPI_Count, _c)
