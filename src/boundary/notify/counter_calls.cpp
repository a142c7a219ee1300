// SPDX-License-Identifier: BSD-3-Clause
// The calls of oriel/notify_counters.h that are no operations.
#include <oriel/profiling.h>

#include "boundary/notify/counter_maker.hpp"
#include "boundary/notify/counter_values.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {
namespace {

template <typename Ours>
int dispatch_counters(const char* call, MPI_Win win, Ours&& ours) {
  return dispatch_call(call, win, ours, [&] { return no_counters(call, win); });
}

}  // namespace
}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_CALL(Err_rma_notification)(void) {
  return err_rma_notification();
}

ORIEL_CALL(Win_set_num_notify)(MPI_Win win, MPI_Info info, int num) {
  return dispatch_counters("ORIEL_Win_set_num_notify", win, [&](WindowHandle& window) {
    return CounterMaker(window).make(num, info);
  });
}

ORIEL_CALL(Win_get_num_notify)(MPI_Win win, int rank, int* num) {
  return dispatch_counters("ORIEL_Win_get_num_notify", win,
                           [&](WindowHandle& window) { return get_number(window, rank, num); });
}

ORIEL_CALL(Win_get_notify_value)(MPI_Win win, int index, MPI_Count* value) {
  return dispatch_counters("ORIEL_Win_get_notify_value", win,
                           [&](WindowHandle& window) { return get_value(window, index, value); });
}

ORIEL_CALL(Win_set_notify_value)(MPI_Win win, int index, MPI_Count value) {
  return dispatch_counters("ORIEL_Win_set_notify_value", win,
                           [&](WindowHandle& window) { return set_value(window, index, value); });
}

ORIEL_CALL(Win_reset_notify_value)(MPI_Win win, int index, MPI_Count* value) {
  return dispatch_counters("ORIEL_Win_reset_notify_value", win,
                           [&](WindowHandle& window) { return reset_value(window, index, value); });
}

ORIEL_CALL(Win_get_notify_request)
(MPI_Win win, int index, MPI_Count threshold, MPI_Request* request) {
  constexpr const char* call = "ORIEL_Win_get_notify_request";
  return request_value(call, win, index, threshold, request,
                       [&] { return no_counters(call, win); });
}
