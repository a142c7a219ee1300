// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI-4.1 section 12.3 (G3), with int counts and, if the host has them, with
// large ones.
#include "mpi/calls/parameters.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/operations/operations.hpp"

using namespace oriel::mpi;

/// Defines MPI_Name, which tries its hot path. `Count`: empty if the call has no counts.
#define ORIEL_OPERATION(Name, name, NAME, Count, suffix)                                 \
  ORIEL_MPI_CALL(Name##suffix)(ORIEL_##NAME##_ARGS Count, MPI_Win win) {                 \
    const auto hot_path = [=](const WindowHandle& window) {                              \
      return try_##name(window, ORIEL_##NAME##_NAMES);                                   \
    };                                                                                   \
    if (try_hot_path(hot_window(win), hot_path)) [[likely]]                              \
      return MPI_SUCCESS;                                                                \
    return dispatch_general(                                                             \
        "MPI_" #Name #suffix, win,                                                       \
        [=](WindowHandle& window) {                                                      \
          return issue_generally(window, name##_access(ORIEL_##NAME##_NAMES), hot_path); \
        },                                                                               \
        [=] { return host_mpi().Name##suffix(ORIEL_##NAME##_NAMES, win); });             \
  }

/// Defines MPI_Rname, which always makes an Access.
#define ORIEL_REQUEST_OPERATION(name, NAME, Count, suffix)                                         \
  ORIEL_MPI_CALL(R##name##suffix)(ORIEL_##NAME##_ARGS Count, MPI_Win win, MPI_Request * request) { \
    return issue_with_request(                                                                     \
        "MPI_R" #name #suffix, win, name##_access(ORIEL_##NAME##_NAMES), request,                  \
        [&] { return host_mpi().R##name##suffix(ORIEL_##NAME##_NAMES, win, request); });           \
  }

#define ORIEL_OPERATIONS(Count, suffix)                                          \
  ORIEL_OPERATION(Put, put, PUT, Count, suffix)                                  \
  ORIEL_OPERATION(Get, get, GET, Count, suffix)                                  \
  ORIEL_OPERATION(Accumulate, accumulate, ACCUMULATE, Count, suffix)             \
  ORIEL_OPERATION(Get_accumulate, get_accumulate, GET_ACCUMULATE, Count, suffix) \
  ORIEL_REQUEST_OPERATION(put, PUT, Count, suffix)                               \
  ORIEL_REQUEST_OPERATION(get, GET, Count, suffix)                               \
  ORIEL_REQUEST_OPERATION(accumulate, ACCUMULATE, Count, suffix)                 \
  ORIEL_REQUEST_OPERATION(get_accumulate, GET_ACCUMULATE, Count, suffix)

ORIEL_OPERATIONS((int), )
#if ORIEL_HOST_LARGE_COUNTS
ORIEL_OPERATIONS((MPI_Count), _c)
#endif
ORIEL_OPERATION(Fetch_and_op, fetch_and_op, FETCH_AND_OP, , )
ORIEL_OPERATION(Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, , )
