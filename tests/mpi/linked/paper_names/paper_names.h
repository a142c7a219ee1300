/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of oriel's *_names.h share. They are C99, and C++ as well (paper_names.cpp). */
#ifndef PAPER_NAMES_H
#define PAPER_NAMES_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define HOLDS(condition) check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* Fails unless the call returns MPI_SUCCESS. */
#define DO(call) HOLDS((call) == MPI_SUCCESS)
#define FAILS_WITH(call, expected) HOLDS(class_of(call) == (expected))

static inline void check(int holds, const char* text, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "FAILED: %s:%d: %s does not hold.\n", file, line, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline int class_of(int code) {
  int result = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &result);
  return result;
}

static inline int my_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static inline int ranks(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

static inline int right_rank(void) {
  return (my_rank() + 1) % ranks();
}

static inline int left_rank(void) {
  return (my_rank() + ranks() - 1) % ranks();
}

static inline void all_ranks(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A window of `count` ints, all 0 on every rank when the call returns. */
static inline MPI_Win int_window(int count, int** memory) {
  MPI_Win win = MPI_WIN_NULL;
  const MPI_Aint bytes = (MPI_Aint)((size_t)count * sizeof(int));
  DO(MPI_Win_allocate(bytes, (int)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win));
  for (int i = 0; i < count; ++i) (*memory)[i] = 0;
  all_ranks();
  return win;
}

static inline MPI_Group one_rank(MPI_Win win, int rank) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group one = MPI_GROUP_NULL;
  DO(MPI_Win_get_group(win, &all));
  DO(MPI_Group_incl(all, 1, &rank, &one));
  DO(MPI_Group_free(&all));
  return one;
}

#ifdef __cplusplus
extern "C" {
#endif

void test_nonblocking_epochs(void);
void test_notified_access(void);
void test_fompi(void);
void test_quo_vadis(void);
void test_persistent_alltoallv(void);

#ifdef __cplusplus
}
#endif

#endif
