// SPDX-License-Identifier: BSD-3-Clause
// G1: a tool wraps calls of the program and passes them on under their PMPI_ names, as the
// profiling interface has it; other callers use those names to begin with. Both reach the windows.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

int wrapped = 0;  // calls that the tool has seen

using support::Program;
using support::Window;

/// Calls by their usual names, each of which the tool below wraps.
void through_a_tool(const Program& program) {
  wrapped = 0;
  int seen = 0;
  Window<int> window(support::Flavor::create, 4);
  CHECK_EQUAL(wrapped, ++seen);
  const int value = 7 + program.rank();
  const int one = 1;
  int got = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
  CHECK_EQUAL(wrapped, ++seen);
  MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
  CHECK_EQUAL(wrapped, ++seen);
  MPI_Accumulate(&one, 1, MPI_INT, program.right(), 0, 1, MPI_INT, MPI_SUM, window);
  CHECK_EQUAL(wrapped, ++seen);
  MPI_Get(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
  CHECK_EQUAL(wrapped, ++seen);
  MPI_Win_unlock(program.right(), window);
  CHECK_EQUAL(wrapped, ++seen);
  CHECK_EQUAL(got, value + 1);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(wrapped, ++seen);  // waiting inside is nobody's business
  CHECK_EQUAL(window[0], 8 + program.left());
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/// The PMPI_ names on a window that was made by its MPI_ name, and the other way round.
void by_the_other_name(const Program& program) {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  PMPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  base[0] = base[1] = base[2] = base[3] = 0;
  PMPI_Barrier(MPI_COMM_WORLD);
  const int target = program.right();
  const int values[2] = {10 + program.rank(), 20 + program.rank()};
  const int zero = 0;
  int before = -1;
  MPI_Request request;
  PMPI_Win_lock_all(0, win);
  PMPI_Put(values, 1, MPI_INT, target, 0, 1, MPI_INT, win);
  PMPI_Rput(values + 1, 1, MPI_INT, target, 1, 1, MPI_INT, win, &request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  PMPI_Fetch_and_op(values, &before, MPI_INT, target, 2, MPI_SUM, win);
  PMPI_Compare_and_swap(values, &zero, &before, MPI_INT, target, 3, win);
  PMPI_Win_flush(target, win);
  CHECK_EQUAL(before, 0);
  int got[4] = {};
  MPI_Get(got, 4, MPI_INT, target, 0, 4, MPI_INT, win);
  PMPI_Win_unlock_all(win);
  const int expected[4] = {values[0], values[1], values[0], values[0]};
  for (int i = 0; i < 4; ++i) CHECK_EQUAL(got[i], expected[i]);

  PMPI_Win_post(support::Group({program.left()}), 0, win);
  PMPI_Win_start(support::Group({target}), 0, win);
  PMPI_Accumulate(values, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_REPLACE, win);
  PMPI_Win_complete(win);
  PMPI_Win_wait(win);
  CHECK_EQUAL(base[0], 10 + program.left());

  MPI_Aint size = 0;
  int unit = 0;
  int* mine = nullptr;
  PMPI_Win_shared_query(win, program.rank(), &size, &unit, &mine);
  CHECK_EQUAL(size, static_cast<MPI_Aint>(4 * sizeof(int)));
  void* attribute = nullptr;
  int found = 0;
  PMPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &found);
  CHECK(found != 0 && attribute == base);
  PMPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

/// Memory that is taken by one name and given back by the other.
void memory() {
  void* one = nullptr;
  void* other = nullptr;
  PMPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &one);
  MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &other);
  std::memset(one, 1, 1 << 16);
  std::memset(other, 2, 1 << 16);
  CHECK_EQUAL(MPI_Free_mem(one), MPI_SUCCESS);
  CHECK_EQUAL(PMPI_Free_mem(other), MPI_SUCCESS);
}

}  // namespace

// The tool.

extern "C" int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                              MPI_Win* win) {
  ++wrapped;
  return PMPI_Win_create(base, size, unit, info, comm, win);
}

extern "C" int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win) {
  ++wrapped;
  return PMPI_Win_lock(type, rank, assertion, win);
}

extern "C" int MPI_Win_unlock(int rank, MPI_Win win) {
  ++wrapped;
  return PMPI_Win_unlock(rank, win);
}

extern "C" int MPI_Win_fence(int assertion, MPI_Win win) {
  ++wrapped;
  return PMPI_Win_fence(assertion, win);
}

extern "C" int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank,
                       MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                       MPI_Win win) {
  ++wrapped;
  return PMPI_Put(origin, count, type, rank, displacement, target_count, target_type, win);
}

extern "C" int MPI_Get(void* result, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
                       int target_count, MPI_Datatype target_type, MPI_Win win) {
  ++wrapped;
  return PMPI_Get(result, count, type, rank, displacement, target_count, target_type, win);
}

extern "C" int MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int rank,
                              MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                              MPI_Op op, MPI_Win win) {
  ++wrapped;
  return PMPI_Accumulate(origin, count, type, rank, displacement, target_count, target_type, op,
                         win);
}

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++wrapped;
  return PMPI_Wait(request, status);
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("through a tool", [&] { through_a_tool(program); });
  program.test("by the other name", [&] { by_the_other_name(program); });
  program.test("memory", memory);
}
