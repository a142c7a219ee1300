// SPDX-License-Identifier: BSD-3-Clause
// Conversions of window handles between C and Fortran, if they are functions: the host's would
// access a window that the host does not know.
#include "mpi/host/fortran_layer.hpp"
#include "mpi/runtime/handle_values.hpp"

using namespace oriel::mpi;

// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
#define ORIEL_WIN_CONVERSIONS(to, from)                                                          \
  ORIEL_DEFINE_BOTH(to, P##to)(MPI_Win win) {                                                    \
    static auto* const host =                                                                    \
        host_function<decltype(P##to)>("P" #to, __builtin_return_address(0));                    \
    return HandleValues::contains(win) ? HandleValues::to_fortran(win) : host(win);              \
  }                                                                                              \
  ORIEL_DEFINE_BOTH_RETURNING(MPI_Win, from, P##from)(int win) {                                 \
    static auto* const host =                                                                    \
        host_function<decltype(P##from)>("P" #from, __builtin_return_address(0));                \
    return HandleValues::contains_in_fortran(win) ? HandleValues::from_fortran(win) : host(win); \
  }
// NOLINTEND(bugprone-macro-parentheses)
ORIEL_HOST_WIN_CONVERSIONS(ORIEL_WIN_CONVERSIONS)
