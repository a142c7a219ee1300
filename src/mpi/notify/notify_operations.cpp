// SPDX-License-Identifier: BSD-3-Clause
// The notified operations of oriel/notify.h (N1) and oriel/notify_counters.h (N8): each is the
// operation of the same name and notifies its target, by a tag or by adding one to a counter.
#include <oriel/profiling.h>

#include "mpi/calls/parameters.hpp"
#include "mpi/notify/notify_access.hpp"
#include "mpi/notify/window_counters.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

[[gnu::always_inline]] inline int notify_tag(const char* call, MPI_Win handle, const Access& access,
                                             int tag) {
  return dispatch_notified(call, handle, tagged(access, tag), [&] {
    return unsupported_window(call, handle, lacking::notified_access);
  });
}

int request_tag(const char* call, MPI_Win handle, const Access& access, int tag,
                MPI_Request* request) {
  return issue_with_request(call, handle, tagged(access, tag), request, [&] {
    return unsupported_window(call, handle, lacking::notified_access);
  });
}

[[gnu::always_inline]] inline int notify_counter(const char* call, MPI_Win handle,
                                                 const Access& access, int index) {
  return dispatch_notified(call, handle, counted(access, index),
                           [&] { return no_counters(call, handle); });
}

int request_counter(const char* call, MPI_Win handle, const Access& access, int index,
                    MPI_Request* request) {
  return issue_with_request(call, handle, counted(access, index), request,
                            [&] { return no_counters(call, handle); });
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

// The order of the arguments: window before tag in the paper, index before window in the Forum's
// draft.
#define ORIEL_TAG MPI_Win win, int number
#define ORIEL_COUNTER int number, MPI_Win win

/// Defines ORIEL_Call. `Count`: empty if the call has no counts; `by`: tag or counter.
#define ORIEL_NOTIFIED(Call, name, NAME, Count, by, BY)                                   \
  ORIEL_CALL(Call)(ORIEL_##NAME##_ARGS Count, ORIEL_##BY) {                               \
    return notify_##by("ORIEL_" #Call, win, name##_access(ORIEL_##NAME##_NAMES), number); \
  }
/// Defines the call with a request, too.
#define ORIEL_BOTH_NOTIFIED(Name, name, NAME, Count, suffix, by, BY)                               \
  ORIEL_NOTIFIED(Name##suffix, name, NAME, Count, by, BY)                                          \
  ORIEL_CALL(R##name##suffix)(ORIEL_##NAME##_ARGS Count, ORIEL_##BY, MPI_Request * request) {      \
    return request_##by("ORIEL_R" #name #suffix, win, name##_access(ORIEL_##NAME##_NAMES), number, \
                        request);                                                                  \
  }

#define ORIEL_ALL_NOTIFIED(Count, suffix, by, BY)                                \
  ORIEL_BOTH_NOTIFIED(Put, put, PUT, Count, suffix, by, BY)                      \
  ORIEL_BOTH_NOTIFIED(Get, get, GET, Count, suffix, by, BY)                      \
  ORIEL_BOTH_NOTIFIED(Accumulate, accumulate, ACCUMULATE, Count, suffix, by, BY) \
  ORIEL_BOTH_NOTIFIED(Get_accumulate, get_accumulate, GET_ACCUMULATE, Count, suffix, by, BY)

ORIEL_ALL_NOTIFIED((int), _notify, tag, TAG)
ORIEL_ALL_NOTIFIED((MPI_Count), _notify_c, tag, TAG)
ORIEL_ALL_NOTIFIED((int), _notify_counter, counter, COUNTER)
ORIEL_ALL_NOTIFIED((MPI_Count), _notify_counter_c, counter, COUNTER)
ORIEL_NOTIFIED(Fetch_and_op_notify, fetch_and_op, FETCH_AND_OP, , tag, TAG)
ORIEL_NOTIFIED(Compare_and_swap_notify, compare_and_swap, COMPARE_AND_SWAP, , tag, TAG)
