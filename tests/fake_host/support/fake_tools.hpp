// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

/// MPI_T of the fake host: so many variables of each kind and categories, whose names end with
/// their indices: cvar_0, pvar_0, category_0. Each category lists all of them. Handles and sessions
/// are addresses of nothing.
namespace oriel::test {

struct FakeTools {
  int cvars = 3;
  int pvars = 2;
  int categories = 2;
  MPI_T_pvar_handle started = MPI_T_PVAR_HANDLE_NULL;  // last
};

FakeTools& fake_tools();

}  // namespace oriel::test
