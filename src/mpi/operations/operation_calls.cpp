// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI-4.1 section 12.3 (G3): those with counts, defined from one table, blocking
// and with a request, with int counts and, if the host has them, with large ones.
#include "mpi/calls/operation_parameters.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/operations/operations.hpp"

using namespace oriel::mpi;

/// Defines two calls: MPI_Name, which tries its fast path, and MPI_Rname, which always makes an
/// Access.
#define ORIEL_OPERATION(Name, name, NAME, Count, suffix)                                     \
  ORIEL_MPI_CALL(Name##suffix)(ORIEL_##NAME(Count), MPI_Win win) {                           \
    const auto at_once = [=](const WindowHandle& window) {                                   \
      return name##_at_once(window, ORIEL_##NAME##_NAMES);                                   \
    };                                                                                       \
    if (try_fast_path(hot_window(win), at_once)) [[likely]]                                  \
      return MPI_SUCCESS;                                                                    \
    return dispatch_general(                                                                 \
        "MPI_" #Name #suffix, win,                                                           \
        [=](WindowHandle& window) {                                                          \
          return issue_generally(window, name##_access(ORIEL_##NAME##_NAMES), at_once);      \
        },                                                                                   \
        [=] { return host_mpi().Name##suffix(ORIEL_##NAME##_NAMES, win); });                 \
  }                                                                                          \
  ORIEL_MPI_CALL(R##name##suffix)(ORIEL_##NAME(Count), MPI_Win win, MPI_Request * request) { \
    return issue_with_request(                                                               \
        "MPI_R" #name #suffix, win, name##_access(ORIEL_##NAME##_NAMES), request,            \
        [&] { return host_mpi().R##name##suffix(ORIEL_##NAME##_NAMES, win, request); });     \
  }

#define ORIEL_OPERATIONS(Count, suffix)                              \
  ORIEL_OPERATION(Put, put, PUT, Count, suffix)                      \
  ORIEL_OPERATION(Get, get, GET, Count, suffix)                      \
  ORIEL_OPERATION(Accumulate, accumulate, ACCUMULATE, Count, suffix) \
  ORIEL_OPERATION(Get_accumulate, get_accumulate, GET_ACCUMULATE, Count, suffix)

ORIEL_OPERATIONS(int, )
#if ORIEL_HOST_LARGE_COUNTS
ORIEL_OPERATIONS(MPI_Count, _c)
#endif

// Operations on one element.

ORIEL_MPI_CALL(Fetch_and_op)
(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op,
 MPI_Win win) {
  const auto at_once = [=](const WindowHandle& window) {
    return fetch_and_op_at_once(window, origin, result, type, rank, displacement, op);
  };
  if (try_fast_path(hot_window(win), at_once)) [[likely]]
    return MPI_SUCCESS;
  return dispatch_general(
      "MPI_Fetch_and_op", win,
      [=](WindowHandle& window) {
        return issue_generally(
            window, fetch_and_op_access(origin, result, type, rank, displacement, op), at_once);
      },
      [=] { return host_mpi().Fetch_and_op(origin, result, type, rank, displacement, op, win); });
}

ORIEL_MPI_CALL(Compare_and_swap)
(const void* origin, const void* compare, void* result, MPI_Datatype type, int rank,
 MPI_Aint displacement, MPI_Win win) {
  const auto at_once = [=](const WindowHandle& window) {
    return compare_and_swap_at_once(window, origin, compare, result, type, rank, displacement);
  };
  if (try_fast_path(hot_window(win), at_once)) [[likely]]
    return MPI_SUCCESS;
  return dispatch_general(
      "MPI_Compare_and_swap", win,
      [=](WindowHandle& window) {
        return issue_generally(
            window, compare_and_swap_access(origin, compare, result, type, rank, displacement),
            at_once);
      },
      [=] {
        return host_mpi().Compare_and_swap(origin, compare, result, type, rank, displacement, win);
      });
}
